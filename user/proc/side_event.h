/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf's sideband records, taken apart and, for processes that were there
 * before us, put together from /proc in the same form, so that everything
 * downstream (and a tape) knows only one.
 */
#ifndef WEFT_PROC_SIDE_EVENT_H
#define WEFT_PROC_SIDE_EVENT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum side_kind {
	SIDE_MMAP,
	SIDE_EXEC,
	SIDE_RENAME, /* of a thread */
	SIDE_FORK,
	SIDE_EXIT,
	SIDE_LOST,
	SIDE_OTHER
};

#define SIDE_COMM_BYTES 16 /* TASK_COMM_LEN */

struct side_event {
	enum side_kind kind;
	uint64_t time_ns;	      /* CLOCK_MONOTONIC */
	uint32_t pid, tid;	      /* EXIT: tid 0, never perf's, is all of them */
	uint32_t ppid;		      /* FORK: the parent's pid */
	uint64_t start, bytes, pgoff; /* MMAP */
	uint32_t maj, min;
	uint64_t ino;
	bool is_told;	  /* by the kernel, when it happened; not read in /proc */
	bool is_shared;	  /* MMAP: writes to it are seen by others */
	bool is_deleted;  /* MMAP: the file has no name any more, or never had one */
	bool is_writable; /* MMAP: where it is run */
	char path[4096];  /* MMAP; cut to fit, NUL terminated */
	char comm[SIDE_COMM_BYTES]; /* EXEC, RENAME: NUL terminated, as it came */
	uint64_t lost;		    /* LOST: records */
};

/* Checks every length. -EBADMSG: not a record of ours (a tape may hold any). */
int side_event_read(struct side_event *ret, const void *record, size_t bytes);

/* Takes off the one " (deleted)" that the kernel adds to the path of a file that has no
 * name any more, as a memfd never had one; was there one? A file whose own name ends so
 * loses that while it is there: neither record nor /proc says which of the two it is. */
bool side_event_cut_deleted(char *path);

/* The time alone; 0 when the record is too short to have one. */
uint64_t side_event_time(const void *record, size_t bytes);

/* Adds the bytes of an MMAP2, an EXIT or (any other kind) a COMM record to out. To read
 * them gives the same path. */
void side_event_write(struct str *out, const struct side_event *event);

#endif
