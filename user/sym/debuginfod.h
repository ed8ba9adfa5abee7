/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files of servers that are asked by build id (debuginfod), by a process without
 * privileges. Nothing is asked unless whoever runs weft named servers: they learn what
 * runs here. One that fails twice in a row, or keeps us waiting once, is left alone; time
 * is limited for all files together. Who is patient asks for one file after the other
 * while he does something else: each may take longer, and such a server is asked again
 * later. That a file is the right one somebody else says.
 */
#ifndef WEFT_SYM_DEBUGINFOD_H
#define WEFT_SYM_DEBUGINFOD_H

#include "base/cleanup.h"
#include "obj/build_id.h"

#define DEBUGINFOD_URLS_MAX  8
#define DEBUGINFOD_URL_BYTES 1024 /* of one */

#define DEBUGINFOD_BYTES	 (256ULL << 20) /* of one file */
#define DEBUGINFOD_PATIENT_BYTES (64ULL << 20)	/* while others need the memory */

struct debuginfod_config {
	const char *urls; /* borrowed; blanks between them */
	bool is_patient;
	void (*progress)(const char *line); /* NULL: nobody wants to know */
};

struct debuginfod_counts {
	unsigned long asked, found;
	unsigned long failed;  /* neither a file nor a no */
	unsigned long skipped; /* not asked for: time or servers are used up */
	uint64_t bytes;
	uint64_t waited_ns;
};

struct debuginfod;

/* Forks at once, while little is open. urls: at most so many, and so long, as above. */
int debuginfod_new(struct debuginfod **ret, const struct debuginfod_config *config);
void debuginfod_free(struct debuginfod *d);
DEFINE_FREEP(debuginfod)

/* The debug file of what has this build id, or -1; the caller closes it. path: what is
 * shown of it. */
int debuginfod_get(struct debuginfod *d, const struct build_id *id, const char *path);

enum {
	DEBUGINFOD_RUNS,
	DEBUGINFOD_DONE,   /* with the file, or without: no server has it */
	DEBUGINFOD_UNSURE, /* a server failed, or was not asked */
};

/* The same without waiting: begun once, -EINVAL if it can't be asked for, then stepped
 * until it no longer runs. wait_ms: for an answer at most. */
int debuginfod_begin(struct debuginfod *d, const struct build_id *id, const char *path);
int debuginfod_step(struct debuginfod *d, int wait_ms, int *ret_fd);

struct debuginfod_counts debuginfod_counts(const struct debuginfod *d);

#endif
