/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes and threads that were asked for by number, each known by when it
 * began: whoever has its number later is another. The kernel's half stops to
 * sample them by itself (bpf/fork.bpf.c).
 */
#ifndef WEFT_RECORD_WATCHED_PIDS_H
#define WEFT_RECORD_WATCHED_PIDS_H

#include "proc/opener.h"
#include "record/record.h"

struct watched_pid {
	pid_t pid;
	bool is_process;      /* a process, and not a thread */
	uint64_t start_ticks; /* UINT64_MAX: it was gone already */
};

struct watched_pids { /* all zero: none was asked for */
	struct watched_pid items[2 * FILTER_PIDS_MAX];
	unsigned int n;
	struct opener *opener; /* borrowed: who looks */
};

/* As they are now. */
void watched_pids_begin(struct watched_pids *ret, struct opener *opener,
			const struct pid_list *tgids, const struct pid_list *tids);

/* Some were asked for, and none of them is there any more. */
bool watched_pids_have_ended(const struct watched_pids *watched);

/* "process 12 has ended", "all 3 processes have ended" */
const char *watched_pids_end_text(const struct watched_pids *watched, char *out,
				  size_t room);

#endif
