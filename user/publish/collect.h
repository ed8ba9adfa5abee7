/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of both workers: one that looks through every file and makes the
 * tables of most, one that makes those of large files, for which no other shall wait.
 */
#ifndef WEFT_PUBLISH_COLLECT_H
#define WEFT_PUBLISH_COLLECT_H

#include "sym/files.h"
#include "worker/worker.h"

struct collect_from {
	struct files *files;
	struct worker *worker;		  /* the files' own */
	struct worker *large_file_worker; /* NULL: none; only tables are asked of it */
};

/* As worker_collect(), of both. */
int collect_answers(const struct collect_from *from, int wait_ms);

#endif
