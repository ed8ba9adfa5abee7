/* SPDX-License-Identifier: BSD-2-Clause */
/* All the ways out of an agent: an exporter for each receiver, and the folder of what is
 * kept. */
#ifndef WEFT_AGENT_SHIPPING_H
#define WEFT_AGENT_SHIPPING_H

#include "agent/agent.h"
#include "base/str.h"
#include "core/profile.h"
#include "core/series.h"
#include "deliver/exporter.h"

#include <poll.h>

struct shipping;

/* Forks the senders, so it comes before anything that they should not have. */
int shipping_new(struct shipping **ret, const struct agent_options *options);
void shipping_free(struct shipping *shipping);
DEFINE_FREEP(shipping)

/* A finished profile on its way, or into the folder of what is kept. Where it can't be
 * written is said, counted, and no error: the next one may be. series: of its processes;
 * NULL: all of it has the labels of the configuration. */
void shipping_add(struct shipping *shipping, const struct profile *profile,
		  const struct series *series);
void shipping_keep(struct shipping *shipping, const struct profile *profile);

/* What is due now. */
void shipping_step(struct shipping *shipping);

/* One more try for all that waits, until all was tried or so much time has passed. */
void shipping_end(struct shipping *shipping, uint64_t time_ns);

/* What a receiver's way out came to; spool and tries as they have it. */
struct shipping_state {
	const char *receiver;
	struct spool_counts spool;
	struct exporter_counts exporter;
	uint64_t oldest_unix_ns; /* that waits; 0: none does */
};

struct shipping_state shipping_state(const struct shipping *shipping, size_t receiver);
/* Profiles that could be written to no spool. */
uint64_t shipping_lost(const struct shipping *shipping);

/* For who else needs processes of its own; NULL: there is none. */
struct sender_keeper *shipping_keeper(struct shipping *shipping);

/* While it is held nothing more goes out, it waits in the spools. True: nothing is on
 * its way any more. */
bool shipping_hold(struct shipping *shipping, bool is_held);

/* What there is to wait for; returns how many. */
size_t shipping_fds(const struct shipping *shipping,
		    struct pollfd fds[AGENT_RECEIVERS_MAX]);

/* A line for each way out. */
void shipping_summary(struct str *out, const struct shipping *shipping);

#endif
