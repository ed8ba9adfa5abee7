// SPDX-License-Identifier: BSD-2-Clause
#include "agent/pause.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As systemd and D-Bus name a machine; "" where nothing does. */
static void read_machine_id(char *id, int room)
{
	FILE *file = fopen("/etc/machine-id", "re");

	*id = '\0';
	if (file && fgets(id, room, file))
		id[strcspn(id, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* The label says it where the machine's own name does not, as in a container. */
static const char *host_name(const struct agent_options *options)
{
	for (size_t i = 0; i < options->n_labels; i++)
		if (!strcmp(options->labels[i].name, "hostname"))
			return options->labels[i].value;
	return "";
}

void pause_begin(struct lottery *lottery, const struct agent_options *options)
{
	char id[64];

	read_machine_id(id, sizeof(id));
	lottery_begin(lottery, options->hosts_sampled_ppm, id, host_name(options));
}

enum pause pause_due(const struct agent_options *options, const struct lottery *lottery)
{
	unsigned int left_s;
	uint64_t hour = lottery_hour(lottery, clock_unix_ns() / SECOND_NS, &left_s);

	if (options->stop_file && !access(options->stop_file, F_OK))
		return PAUSE_STOP_FILE;
	return lottery_wins(lottery, hour) ? PAUSE_NONE : PAUSE_LOTTERY;
}

const char *pause_text(enum pause pause)
{
	switch (pause) {
	case PAUSE_STOP_FILE:
		return "stopped: the stop file exists";
	case PAUSE_LOTTERY:
		return "rests: this hour is for other hosts";
	case PAUSE_NONE:
		break;
	}
	return NULL;
}

void pause_tell(enum pause pause, enum pause before, const struct agent_options *options,
		const struct lottery *lottery)
{
	unsigned int left_s;

	lottery_hour(lottery, clock_unix_ns() / SECOND_NS, &left_s);
	if (pause == PAUSE_STOP_FILE)
		log_warn("%s exists: weft samples and sends nothing until it is gone",
			 options->stop_file);
	else if (pause == PAUSE_LOTTERY)
		log_warn("lottery: of %g %% of the hosts this is none for the next %u "
			 "min, so weft samples nothing",
			 options->hosts_sampled_ppm / 1e4, left_s / 60 + 1);
	else if (before == PAUSE_STOP_FILE)
		log_warn("%s is gone: weft samples and sends again", options->stop_file);
	else if (before == PAUSE_LOTTERY)
		log_warn("lottery: this host's hour begins, so weft samples");
}
