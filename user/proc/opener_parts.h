/* SPDX-License-Identifier: BSD-2-Clause */
/* What opener.c and its process say to each other: a request, and its answer with the
 * descriptor if one was asked for and all went well. */
#ifndef WEFT_PROC_OPENER_PARTS_H
#define WEFT_PROC_OPENER_PARTS_H

#include "base/task_stat.h"
#include "proc/map_query.h"
#include "proc/maps_text.h"
#include "proc/open.h"
#include "proc/open_debug.h"
#include "proc/opener.h"

#include <limits.h>

enum opener_kind {
	OPENER_MAPPED = 1,
	OPENER_PERF_MAP,
	OPENER_MAPS,	  /* behind the answer */
	OPENER_LONG_MAPS, /* a copy, of more than goes there */
	OPENER_DEBUG,
	OPENER_PLACES,
	OPENER_ENVIRON,
	OPENER_CONTEXT,
	OPENER_PAYER,
	OPENER_STAT,
};

struct opener_request {
	enum opener_kind kind;
	pid_t pid;
	uint64_t start, end; /* MAPPED */
	uint32_t maj, min;
	uint64_t ino;
	struct owner kept; /* PERF_MAP; PAYER: its uid */
	uint64_t max_bytes;
	struct debug_query debug;		 /* DEBUG */
	struct map_place places[MAP_PLACES_MAX]; /* PLACES */
	uint32_t n_places;
	char path[PATH_MAX]; /* MAPPED, DEBUG; ENVIRON: names; as much as is in use */
};

struct opener_answer {
	int32_t err;
	uint32_t number; /* DEBUG: the place; PAYER: who; LONG_MAPS: is it only a part? */
	struct task_stat stats[2]; /* STAT: the first; PLACES: before and after */
	char why[256];		   /* the error's sentence */
};

#define OPENER_TEXT_MAX 16384 /* of a process with some 150 mappings of code */

static const struct maps_most opener_short = { OPENER_TEXT_MAX, 256u << 10 };
static const struct maps_most opener_long = { OPENER_MAPS_MAX, OPENER_MAPS_MAX };

/* What comes: as much of the text as there is. */
struct opener_message {
	struct opener_answer answer;
	char text[OPENER_TEXT_MAX];
};

/* From here on this process reads what only we may, and can neither change a process or
 * a file nor send, run or load anything, as far as a filter of calls sees. */
void opener_sandbox(void);

/* The process. */
void opener_run(int sock) __attribute__((noreturn));

#endif
