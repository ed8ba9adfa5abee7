/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of both workers: one that looks through every file and makes the
 * tables of most, one that makes those of large files, for which no other shall wait.
 */
#ifndef WEFT_PUBLISH_COLLECT_H
#define WEFT_PUBLISH_COLLECT_H

#include "publish/tables.h"

struct collect_from {
	struct tables *tables; /* what waits for its turn; NULL: nothing does */
	struct files *files;
	struct worker *worker;		  /* the files' own */
	struct worker *large_file_worker; /* NULL: none; only tables are asked of it */
};

/* Whoever waits, waits for all files only so long: everybody may map files that take as
 * long as he likes. Who is told to stop does not wait (base/signals.h). */
struct wait_limits {
	int all_ms;
	int roots_ms; /* while root's are awaited; at least all_ms */
};

/* As worker_collect(), of both, and of what waits to be asked of them. */
int collect_answers(const struct collect_from *from, const struct wait_limits *limits);

#endif
