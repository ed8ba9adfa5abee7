/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which hosts of a fleet sample in an hour, where some of them are enough. Each host
 * draws for itself, and nobody knows them all: the draw is a hash of the host and the
 * hour, so it is the same however often it is asked for, and as good as independent of
 * other hosts and other hours. Whoever wins at one share wins at each larger one, too.
 *
 * A host's hours begin at a minute and second of its own, so that a fleet does not
 * change all at once. Looks at no clock and no file itself.
 */
#ifndef WEFT_AGENT_LOTTERY_H
#define WEFT_AGENT_LOTTERY_H

#include <stdbool.h>
#include <stdint.h>

#define LOTTERY_ALL    1000000 /* millionths of the hosts */
#define LOTTERY_HOUR_S 3600

struct lottery {
	uint64_t host; /* a hash of it */
	unsigned int share_ppm;
};

/* Both names, since either may be that of an image which many hosts were made from. */
void lottery_begin(struct lottery *lottery, unsigned int share_ppm,
		   const char *machine_id, const char *host_name);

/* The number of this host's hour; the next one begins in *ret_left_s. */
uint64_t lottery_hour(const struct lottery *lottery, uint64_t unix_s,
		      unsigned int *ret_left_s);

bool lottery_wins(const struct lottery *lottery, uint64_t hour);

#endif
