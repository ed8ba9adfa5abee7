/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a workload and the profiler on it, and makes both views of what was
 * recorded.
 */
#ifndef TRUTH_RECORDER_H
#define TRUTH_RECORDER_H

#include "cases.h"
#include "witness.h"

struct setup {
	const char *weft;      /* the profiler */
	const char *workloads; /* the folder of the kinds */
	const char *scratch;   /* for files */
	const char *fault;     /* or NULL; "no-tables" is --unwind fp, and of
				  "wrong-truth" the profiler knows nothing; with
				  "late-tables" none ever comes */
	const char *unwind;    /* or NULL: as weft does by itself */
	unsigned int hz, ms;
	unsigned int all_ms; /* each case's time, whatever it says; 0: not so */
	unsigned int times;  /* as long as that; 0: once */
	bool core;
	bool core_is_flat; /* the core's programs lie in `workloads` itself */
};

/* Files of one recording, below the scratch folder. */
struct files {
	char tape[512], stats[512], recorded[512], talk[512];
	char views[N_VIEWS][512];
	struct excuse excuse; /* for what the recording came too late for */
};

enum { RECORDER_LACKS = 1 }; /* the workload was not built: sentence kept */

/* 0, RECORDER_LACKS, or a negative errno with the sentence kept. */
int recorder_run(const struct setup *setup, const struct truth_case *of, const char *kind,
		 struct files *ret);

/* How long a case runs. */
unsigned int recorder_ms(const struct setup *setup, const struct truth_case *of);

void recorder_name_files(struct files *ret, const char *scratch);
void recorder_remove(const struct files *files);

#endif
