/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A JIT's dump (perf's tools/perf/Documentation/jitdump-specification.txt): records of
 * the code that it generated, moved and named, each with the time. Code lies where a
 * record says until a later one says that other code lies there.
 *
 * The file is read a piece at a time, its code never: it may be as large as its owner
 * likes, and grows while it is read. A record that isn't all there is the end.
 */
#ifndef WEFT_OBJ_JITDUMP_H
#define WEFT_OBJ_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_BYTES_MAX (512u << 20) /* what lies behind them is not read */

enum jitdump_kind { JITDUMP_LOAD, JITDUMP_MOVE };

/* Of code that lies at [start, end) from time_ns on. */
struct jitdump_record {
	enum jitdump_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t start, end;
	uint64_t old_start; /* MOVE: where it lay before */
	uint64_t code;	    /* its number, which stays when it moves */
	uint64_t name;	    /* LOAD: where in the file, */
	size_t name_room;   /* and what it can have at most, with its NUL */
};

struct jitdump {
	int fd;		 /* borrowed */
	uint64_t offset; /* of the next record */
	bool is_cut;	 /* there was more than JITDUMP_BYTES_MAX */
	uint64_t at;	 /* in the file, of the piece at hand */
	size_t n;
	unsigned char piece[16384];
};

/* -EBADMSG: it is none of this machine's; -ENOTSUP: its times are of no clock that we
 * know (a counter of the CPU). */
int jitdump_open(struct jitdump *dump, int fd);

/* 1 and a record, 0 at the end, or a negative errno. */
int jitdump_next(struct jitdump *dump, struct jitdump_record *ret);

#endif
