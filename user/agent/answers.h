/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers what a listener hands on (deliver/listener.h): numbers at once, the page of a
 * window and profiles when their windows have closed. Who asks for seconds gets windows
 * that begin and end with them, so the agent closes some between its own: those are
 * delivered like the others.
 */
#ifndef WEFT_AGENT_ANSWERS_H
#define WEFT_AGENT_ANSWERS_H

#include "agent/metrics.h"

#include <stdint.h>

struct answers;

/* Borrows all. NULL in *ret where the options name no address. */
int answers_new(struct answers **ret, const struct agent_options *options,
		struct shipping *shipping, struct metrics *metrics);
void answers_free(struct answers *answers);
DEFINE_FREEP(answers)

/* What follows takes NULL. */

int answers_fd(const struct answers *answers); /* -1: none */

/* What was asked since. is_sampling: nothing is wrong. */
void answers_step(struct answers *answers, uint64_t now_ns);

/* When a window that began then should be closed at the latest. */
uint64_t answers_wish_ns(const struct answers *answers, uint64_t begun_ns);

/* Who waits for a profile is told that none will come. */
void answers_refuse(struct answers *answers);

/* A window, in turn. */
void answers_take(struct answers *answers, const struct profile *profile,
		  uint64_t begun_ns, uint64_t ended_ns);

#endif
