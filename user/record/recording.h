/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All parts of a live recording, put together and taken apart; the only place
 * that wires them. record/record.c runs it.
 */
#ifndef WEFT_RECORD_RECORDING_H
#define WEFT_RECORD_RECORDING_H

#include "record/recording_parts.h"

#include <poll.h>

/* Everything but the ticks; what runs already is known and its keys published.
 * signals: as a command is to have them. */
int recording_new(struct recording **ret, const struct record_options *options,
		  const struct signals *signals);
void recording_free(struct recording *recording);
DEFINE_FREEP(recording)

/* The ticks, and the command if there is one; until the last tick. */
int recording_start(struct recording *recording);
int recording_stop(struct recording *recording);

/*
 * What there is to wait for, and how long at most: the reader's own pace, which a ring
 * that fills, or a mapping, cuts short.
 */
#define RECORDING_FDS 3
void recording_fds(const struct recording *recording, struct pollfd fds[RECORDING_FDS]);
int recording_pace_ms(const struct recording *recording);

/*
 * Waits for one of n, the first of which are those, some `most_ms` at most. While the
 * kernel tells much of processes it is not heard for a moment at a time, unless that is
 * 0: who is in haste. 0 or -errno of poll(2); a signal ends it, too.
 */
int recording_wait(struct recording *recording, struct pollfd *fds, size_t n,
		   int most_ms);

/* Reads what is there and processes what is due. */
int recording_pump(struct recording *recording);

/* The same once more after the last tick, to the end. in_haste: somebody waits for that,
 * so tables that are being made are not waited for. */
int recording_drain(struct recording *recording, bool in_haste);

/*
 * All samples that were processed since the last time, as a window of their own; the
 * next ones go to another. is_last: after recording_drain(); nothing may follow.
 */
int recording_close_window(struct recording *recording, bool is_last,
			   struct recorded_window **ret);

/* Another rate from here on. All samples up to now are in the window that this closes,
 * so each window has one rate. */
int recording_set_hz(struct recording *recording, unsigned int hz,
		     struct recorded_window **ret);

#endif
