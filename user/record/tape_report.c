// SPDX-License-Identifier: BSD-2-Clause
/* The user half over a tape: the same pipeline, with names from the tape. */
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/name.h"
#include "record/facts.h"
#include "pipeline/gather.h"
#include "record/output.h"
#include "pipeline/pipeline.h"
#include "record/tape_report.h"

#include <errno.h>
#include <string.h>

struct player {
	struct pipeline *pipeline;
	struct names *names;
	struct stats stats;
};

static int on_advance(void *arg, uint64_t horizon_ns)
{
	struct player *player = arg;

	return pipeline_advance(player->pipeline, horizon_ns);
}

static int on_name(void *arg, uint32_t frame, const char *name)
{
	struct player *player = arg;
	AUTO_STR clean = { 0 };
	int err;

	if (frame >= intern_count(pipeline_profile(player->pipeline)->frames))
		return fail(-EBADMSG, "a name for frame %u, which is not there", frame);
	name_add(&clean, name, strlen(name));
	err = str_error(&clean);
	return err ? err : names_set(player->names, frame, clean.s);
}

static int on_uncalled(void *arg, uint32_t frame, enum tape_item why)
{
	struct player *player = arg;

	if (frame >= intern_count(pipeline_profile(player->pipeline)->frames))
		return fail(-EBADMSG, "a mark for frame %u, which is not there", frame);
	return names_set_uncalled(player->names, frame,
				  why == TAPE_MADE	 ? MADE
				  : why == TAPE_SWITCHES ? SWITCHES
							 : MISTAKEN);
}

static int on_totals(void *arg, const uint64_t *numbers, size_t n)
{
	struct player *player = arg;

	return stats_from_tape(&player->stats, numbers, n);
}

static int play(struct player *player, const char *tape)
{
	struct tape_events events = {
		.arg = player,
		.sink = pipeline_input(player->pipeline),
		.advance = on_advance,
		.name = on_name,
		.uncalled = on_uncalled,
		.totals = on_totals,
	};
	int err = tape_play(tape, &events);

	if (err == TAPE_CUT) {
		log_warn("the tape %s was cut short: what is on it is shown", tape);
		player->stats.totals.ledger.entered = 0; /* unknown */
		return pipeline_advance(player->pipeline, UINT64_MAX);
	}
	return err;
}

/* What it says of the run as a whole; when and where is not on a tape. */
static int add_facts(struct player *player, struct reading *reading)
{
	const struct reading_run run = { .hz = player->stats.hz };
	int err = player->stats.hz ? reading_add_run(reading, &run) : 0;

	return err ? err : facts_end(reading, &player->stats);
}

static int write_out(struct player *player, const struct report_options *options)
{
	const struct output output = { options->output, options->stats_json,
				       options->writer, options->view, options->quiet };
	const struct gather_sources sources = { .no_labels = options->no_labels };
	AUTO(gather) gather = NULL;
	int err = gather_new(&gather, pipeline_profile(player->pipeline),
			     pipeline_modules(player->pipeline));

	if (err)
		return err;
	gather_ask(gather, &sources);
	err = gather_finish(gather, player->names);
	if (err)
		return err;
	player->stats.profile = pipeline_profile(player->pipeline);
	player->stats.processes = *process_counts(pipeline_processes(player->pipeline));
	output_views(&output, gather_reading(gather), &player->stats);
	stats_check(&player->stats);
	err = add_facts(player, gather_reading(gather));
	if (!err)
		err = output_reading(&output, gather_reading(gather));
	return err ? err : output_stats(&output, &player->stats);
}

int tape_report_run(const struct report_options *options)
{
	AUTO(pipeline) pipeline = NULL;
	AUTO(names) names = NULL;
	struct player player = { 0 };
	int err = pipeline_new(&pipeline, NULL);

	signals_let_go();
	if (!err)
		err = names_new(&names);
	if (err)
		return err;
	player.pipeline = pipeline;
	player.names = names;
	err = play(&player, options->tape);
	return err ? err : write_out(&player, options);
}
