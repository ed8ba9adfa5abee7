/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a file takes of its parser, by which deadlines of names go: the time that passes,
 * but for what the parser waits for a CPU. On a busy machine, or one whose hypervisor
 * runs others, a file would miss its deadline by no fault of its own.
 */
#ifndef WEFT_WORKER_WORKER_TIME_H
#define WEFT_WORKER_WORKER_TIME_H

#include "base/task_stat.h"

#define TIME_LOOK_MS 20 /* less is not worth a look at what it got */

int64_t worker_now_ms(void);

struct worker_time {
	pid_t pid;
	uint64_t begun_ns;
	uint64_t looked_ns; /* when last; 0: never */
	struct task_sched sched;
	uint64_t taken_ns;
};

/* Of who is given something to do now. */
struct worker_time worker_time_begin(pid_t pid);

/* To be asked some times in that; what passes before the first look is taken. */
uint64_t worker_time_ns(struct worker_time *time);

#endif
