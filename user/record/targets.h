/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes and threads that were asked for by number, each known by when it
 * began: whoever has its number later is another. The kernel's half stops to
 * sample them by itself (bpf/fork.bpf.c).
 */
#ifndef WEFT_RECORD_TARGETS_H
#define WEFT_RECORD_TARGETS_H

#include "record/record.h"

struct target {
	pid_t pid;
	bool whole;	      /* a process, and not a thread */
	uint64_t start_ticks; /* UINT64_MAX: it was gone already */
};

struct targets { /* all zero: none was asked for */
	struct target items[2 * FILTER_PIDS_MAX];
	unsigned int n;
};

/* As they are now. */
void targets_note(struct targets *ret, const struct pid_list *tgids,
		  const struct pid_list *tids);

/* Some were asked for, and none of them is there any more. */
bool targets_have_ended(const struct targets *targets);

/* "process 12 has ended", "all 3 processes have ended" */
const char *targets_end_text(const struct targets *targets, char *out, size_t room);

#endif
