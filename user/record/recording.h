/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All parts of a live recording, put together and taken apart; the only place
 * that wires them. record/record.c runs it.
 */
#ifndef WEFT_RECORD_RECORDING_H
#define WEFT_RECORD_RECORDING_H

#include "record/command.h"
#include "record/declared.h"
#include "pipeline/pipeline.h"
#include "record/record.h"
#include "record/sideband_filter.h"
#include "record/watched_pids.h"
#include "record/windows.h"
#include "base/vec.h"
#include "kern/ksyms.h"
#include "kern/sampler.h"
#include "publish/publisher.h"
#include "sym/debug_servers.h"
#include "sym/jitdumps.h"
#include "tape/tape.h"

#include <poll.h>

struct recording {
	const struct record_options *options;
	struct worker *worker;
	struct opener *opener;		  /* of what processes name and map */
	struct declared *declared;	  /* NULL: nobody wants to know */
	struct worker *large_file_worker; /* NULL: no tables */
	struct debug_servers *servers;	  /* of debug files; NULL: nobody is asked */
	struct command command;
	enum tick_event event;
	struct sampler *sampler;
	struct cache *cache; /* of unwind tables; NULL: none */
	struct publisher *publisher;
	struct pipeline *pipeline;
	struct windows windows; /* of what the pipeline hands on */
	struct files *files;	/* the publisher's */
	struct jitdumps *jitdumps;
	struct ksyms *ksyms;
	struct tape_writer *tape; /* NULL: none asked for */
	struct sideband_filter filter;
	struct watched_pids watched;
	uint64_t begun_ns, started_ns, stopped_ns;
	uint64_t looked_ns;	/* when /proc was last read through */
	uint64_t trimmed_ns;	/* when the module table was gone through */
	bool must_look;		/* something about processes was not told since */
	VEC(uint32_t) unmapped; /* processes that run where nothing is known */
};

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

/* Only of processes that were asked for, so whoever waits for their files wants that. */
static inline bool recording_is_of_some(const struct recording *recording)
{
	return !recording->filter.everyone || recording->options->command;
}

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
