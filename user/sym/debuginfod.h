/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files of servers that are asked by build id (debuginfod), by a process without
 * privileges. Nothing is asked unless whoever runs weft named servers: they learn what
 * runs here. One that fails twice in a row, or keeps us waiting once, is left alone; time
 * and bytes are limited for all files together. That a file is the right one somebody
 * else says.
 */
#ifndef WEFT_SYM_DEBUGINFOD_H
#define WEFT_SYM_DEBUGINFOD_H

#include "base/cleanup.h"
#include "obj/elf_scan.h"

#define DEBUGINFOD_URLS_MAX  8
#define DEBUGINFOD_URL_BYTES 1024 /* of one */

struct debuginfod_config {
	const char *urls;		    /* borrowed; blanks between them */
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
int debuginfod_get(struct debuginfod *d, const struct elf_info *info, const char *path);

struct debuginfod_counts debuginfod_counts(const struct debuginfod *d);

#endif
