/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process maps at some places, asked of the kernel (Linux 6.11): a look-up each,
 * where /proc/PID/maps prints all that it maps. It may wait as long as that does: who
 * must not wait asks the opener (proc/opener.h).
 */
#ifndef WEFT_PROC_MAP_QUERY_H
#define WEFT_PROC_MAP_QUERY_H

#include "base/task_stat.h"

#include <stdint.h>
#include <sys/types.h>

/* Where code of the file with this inode should lie. */
struct map_place {
	uint64_t addr, ino;
};

#define MAP_PLACES_MAX 16

/* 0: it does, at all n of them, and so its stat said before and after that; -ESTALE: not
 * so; -EOPNOTSUPP: this kernel can't be asked; or another negative errno. */
int map_query(pid_t tid, const struct map_place *places, unsigned int n,
	      struct task_stat ret_stats[2]);

#endif
