/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tape holds everything that came into the user half from outside: the raw
 * samples and sideband records in the order they were read, when each batch was
 * processed, the totals, and the names that were found. Played back, it leads
 * to the same output, on any machine, without privilege. The format of golden
 * tests and of bug reports; docs/tape.md describes it.
 */
#ifndef WEFT_TAPE_TAPE_H
#define WEFT_TAPE_TAPE_H

#include "base/cleanup.h"
#include "core/event.h"

#include <stdbool.h>

#define TAPE_TOTALS_MAX 64

enum tape_item {
	TAPE_SAMPLE = 1,   /* struct sample_rec and its words */
	TAPE_SIDEBAND = 2, /* struct perf_event_header and what follows */
	TAPE_ADVANCE = 3,  /* u64: all that is older was processed here */
	TAPE_NAME = 4,	   /* u32 frame id, then the name */
	TAPE_TOTALS = 5,   /* u64s, see record/stats.c */
	TAPE_END = 6,	   /* nothing; a tape without it was cut short */
	TAPE_UNCALLED = 7, /* u32 frame id: no call leads to it, nor does a proven step */
	TAPE_MADE = 8,	   /* u32 frame id: no call leads to it, but a proven step */
	TAPE_SWITCHES = 9, /* u32 frame id: it is interrupted while it changes stacks */
	TAPE_CODE = 10,	   /* u64 pid, u64 since when its JIT's dump has not grown */
	TAPE_COPY = 11,	   /* u32 frame id: a stack that is a copy begins there */
	TAPE_MISLED = 12,  /* u32s: a caller that can't be, and who is below it */
	TAPE_REPLACED = 13, /* u64s: tgid, struct replaced_place */
	TAPE_SETTLED = 14,  /* u64s: tgid, time */
};

struct tape_writer;

int tape_writer_new(struct tape_writer **ret, const char *path);
void tape_writer_free(struct tape_writer *tape);
DEFINE_FREEP(tape_writer)

/* A full disk is told once, by _finish(); the items after it are dropped. Only
 * what is whole is put in the place of what was there. */
void tape_write(struct tape_writer *tape, enum tape_item item, const void *bytes,
		size_t n);
void tape_write_name(struct tape_writer *tape, uint32_t frame, const char *name);
/* What came so far, to the disk: a tape that is cut there can be read. */
void tape_flush(struct tape_writer *tape);
int tape_writer_finish(struct tape_writer *tape);

/* What a player calls; each returns 0 or a negative errno that ends the play. */
struct tape_events {
	void *arg;
	struct event_sink sink;
	int (*advance)(void *arg, uint64_t horizon_ns);
	int (*code)(void *arg, uint32_t tgid, uint64_t since_ns);
	int (*replaced)(void *arg, uint32_t tgid, const uint64_t place[4]);
	int (*settled)(void *arg, uint32_t tgid, uint64_t now_ns);
	int (*name)(void *arg, uint32_t frame, const char *name);
	int (*bad_return)(void *arg, uint32_t frame, enum tape_item why);
	int (*misled)(void *arg, const uint32_t pair[2]);
	int (*totals)(void *arg, const uint64_t *totals, size_t n);
};

enum { TAPE_CUT = 1 };

/* 0; TAPE_CUT: it ends in the middle, everything up to there was played. */
int tape_play(const char *path, const struct tape_events *events);

#endif
