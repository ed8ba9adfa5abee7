/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For how long has a process of ours waited for somebody else? One that has not run
 * because others did (a busy machine, the hypervisor) was not held up by anybody.
 */
#ifndef WEFT_PROC_HELD_H
#define WEFT_PROC_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroes but for the pid, when it was just given something to do. */
struct held {
	pid_t pid;
	uint64_t looked_ns; /* when last; 0: never */
	uint64_t busy_ns;   /* that it had run or wanted to by then */
	uint64_t waited_ns;
};

/* Of the time since the first look; to be asked some times in that. */
uint64_t held_ns(struct held *held);

/* Has it not ended yet? */
bool held_is_there(pid_t pid);

/* Does a thread of this process run, or wait for a CPU? Who reads what it maps may wait
 * for a lock that it would let go of. */
bool held_lacks_cpu(pid_t pid);

#endif
