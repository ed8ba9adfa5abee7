/* SPDX-License-Identifier: BSD-2-Clause */
/* What the opener is, and what weft and its process say to each other: a request, and its
 * answer with the descriptor if one was asked for and all went well. */
#ifndef WEFT_PROC_OPENER_PARTS_H
#define WEFT_PROC_OPENER_PARTS_H

#include "base/task_stat.h"
#include "proc/map_query.h"
#include "proc/maps_text.h"
#include "proc/open.h"
#include "proc/open_debug.h"
#include "proc/hotspot_names.h"
#include "proc/open_words.h"
#include "proc/opener.h"
#include "proc/opener_barred.h"
#include "worker/supervisor.h"

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
	OPENER_WORDS,	     /* behind the answer */
	OPENER_HOTSPOT,	     /* the same */
	OPENER_HOTSPOT_VIEW, /* the same */
	OPENER_HOTSPOT_NAMES,
	OPENER_CODE,
};

struct opener_request {
	enum opener_kind kind;
	pid_t pid;
	uint64_t start, end; /* MAPPED, CODE */
	uint32_t maj, min;
	uint64_t ino;
	struct owner kept; /* PERF_MAP; PAYER: its uid */
	uint64_t max_bytes;
	union {
		struct debug_query debug;		 /* DEBUG */
		struct map_place places[MAP_PLACES_MAX]; /* PLACES */
		uint64_t addrs[OPEN_WORDS_MAX];		 /* WORDS; HOTSPOT: the first */
		struct hotspot_symbols symbols;		 /* HOTSPOT_VIEW */
		struct {
			struct hotspot_view view;
			uint64_t addrs[HOTSPOT_NAMES_MAX];
		} hotspot; /* HOTSPOT_NAMES */
	};
	uint32_t n;	     /* of these */
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

/* What comes: as much of the text as there is, or the words, or the JVM. */
struct opener_message {
	struct opener_answer answer;
	char text[OPENER_TEXT_MAX];
};

#define OPENER_LEFT_MAX 64 /* openers that wait, of whom nobody waits */

struct opener {
	struct supervisor supervisor;
	pid_t pid;
	int sock; /* -1: the last one was given up */
	struct payer_ids ids;
	struct barred barred;	    /* whose files nobody is sent for */
	struct barred barred_words; /* whose memory nobody reads */
	pid_t left[OPENER_LEFT_MAX];
	unsigned int n_left;
	bool is_hurried;
	unsigned int n_hurried; /* misses since */
	bool words_missed;	/* of somebody, which is told once */
	bool cannot_query;	/* this kernel has no such question */
	struct opener_counts counts;
	struct opener_message came;
	size_t n_text; /* of what came */
};

/* Behind all that bars those who hold it up. ret NULL: of no interest. ret_fd NULL: none
 * belongs to the answer. The text is in what came. */
int opener_ask(struct opener *opener, const struct opener_request *request,
	       struct opener_answer *ret, int *ret_fd);

/* From here on this process reads what only we may, and can neither change a process or
 * a file nor send, run or load anything, as far as a filter of calls sees. */
void opener_sandbox(void);

/* The process. */
void opener_run(int sock) __attribute__((noreturn));

#endif
