/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closed windows on their way to profiles, in turn: names for one while the next ones
 * fill, a module at a time, so that samples are read in between. Names outlive windows.
 */
#ifndef WEFT_AGENT_NAMING_H
#define WEFT_AGENT_NAMING_H

#include "record/window_profile.h"

struct naming;

/* Where a window goes that has its names; all is borrowed until it returns. */
typedef int naming_sink(void *arg, const struct recorded_window *window,
			struct profile *profile, const struct stats *stats);

/* Forks a parser of foreign files: the less we hold by then, the better. */
int naming_new(struct naming **ret, naming_sink *sink, void *arg);
void naming_free(struct naming *naming);
DEFINE_FREEP(naming)

/* Takes over a window of this recording, which outlives it. There is always room for the
 * last one. */
void naming_add(struct naming *naming, const struct recording *recording,
		struct recorded_window *window);
bool naming_has_room(const struct naming *naming); /* for one that is not the last */
bool naming_is_idle(const struct naming *naming);

/* The names of earlier windows, and what else is kept of files for the next; returns how
 * many bytes of our own they were. */
uint64_t naming_let_go(struct naming *naming);

/* Somebody waits for the end: windows whose turn comes have less time. */
void naming_hurry(struct naming *naming);

/* Of windows whose turn comes: are names looked for that are not known? If not, the
 * profile counts agent.unnamed_windows. */
void naming_set_frugal(struct naming *naming, bool is_frugal);

/* A module of the first window; after its last, the window goes to the sink. 0, or a
 * negative errno, also of the sink. */
int naming_step(struct naming *naming);

#endif
