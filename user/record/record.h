/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole recording, from options to a written file: what `weft record` does
 * once its command line is understood.
 */
#ifndef WEFT_RECORD_RECORD_H
#define WEFT_RECORD_RECORD_H

#include "core/view.h"
#include "format/writer.h"
#include "record/declared.h"
#include "shared/knobs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_list {
	pid_t pids[FILTER_PIDS_MAX];
	unsigned int n;
};

static inline bool pid_list_contains(const struct pid_list *list, pid_t pid)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

/* How callers are found: --unwind. */
enum unwind {
	UNWIND_AUTO,  /* by frame pointer in code that keeps them, else by table */
	UNWIND_TABLE, /* by table wherever there is one */
	UNWIND_FP,    /* by frame pointer alone */
};

#define UNWIND_MB_DEFAULT 64
#define UNWIND_MB_MAX	  4096

#define RECORD_OUTPUTS_MAX 32

#define RECORD_SYMFS_BYTES 1024 /* of its path, as proc/open_debug.h takes it */

/* Borrowed by record_run() for its whole run; NULL strings are "not given". */
struct record_options {
	unsigned int hz;       /* samples a second and CPU, 1 to the sysctl */
	uint64_t duration_ns;  /* 0: until a signal or the command's end */
	struct pid_list tgids; /* -p */
	struct pid_list tids;  /* -t */
	const char *cgroup;    /* --cgroup: a folder below the v2 mount */
	const char *comm;      /* --comm: exact, at most 15 bytes */
	char **command;	       /* -- CMD ARG…: NULL terminated, or NULL */
	bool kernel_only;      /* --kernel: only samples that fell there */
	bool user_only;	       /* --user */
	enum view view;
	bool no_labels;
	unsigned int max_frames;			/* --max-frames */
	struct output_file outputs[RECORD_OUTPUTS_MAX]; /* -o */
	unsigned int n_outputs;
	const char *tape;	/* --tape */
	const char *stats_json; /* --stats-json */
	const char *event;	/* --event: "cpu-clock", "cycles", NULL = try */
	bool inlines;		/* --inlines */
	const char *debuginfod; /* --debuginfod: URLs, NULL = nobody is asked */
	bool debuginfod_later;	/* and nobody waits for what they have */
	const char *symfs;	/* --symfs: an absolute path, NULL = none */
	/* What a person is told, NULL: nothing. How it goes, a line a second, and NULL at
	 * the end; the ledger. */
	void (*progress)(const char *line);
	void (*summary)(const char *text);
	enum unwind unwind;
	unsigned int unwind_mb;	   /* --unwind-memory: for tables, and what is mapped */
	uint64_t kernel_bytes_max; /* --kernel-memory-budget, of all; 0: no limit */
	const char *unwind_cache;  /* --unwind-cache: a folder, "none", NULL = default */
	unsigned int faults;	   /* hidden, for negative controls */
	struct declared_options declared; /* what processes say of themselves */
	bool trace_ids;			  /* --trace-ids */
	bool timed;			  /* count what samples take in the kernel */
};

/*
 * Returns the exit status that is due: the command's own when there was one
 * and all went well, else 0; or a negative errno with the sentence kept.
 * -EPERM, -ENOSYS and -EOPNOTSUPP mean privilege or kernel are lacking.
 */
int record_run(const struct record_options *options);

#endif
