/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process maps, asked of the kernel place by place (Linux 6.11): a look-up each,
 * where /proc/PID/maps prints all that it maps. It may wait as long as that does: who
 * must not wait asks the opener (proc/opener.h).
 */
#ifndef WEFT_PROC_MAP_QUERY_H
#define WEFT_PROC_MAP_QUERY_H

#include "base/task_stat.h"

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/TID/maps. */
int map_query_open(pid_t tid, int *ret_maps);

/* Where code of the file with this inode should lie. */
struct map_place {
	uint64_t addr, ino;
};

#define MAP_PLACES_MAX 16

/* 0: it does, at all n of them, and so its stat said before and after that; -ESTALE: not
 * so; -EOPNOTSUPP: this kernel can't be asked; or another negative errno. */
int map_query(pid_t tid, const struct map_place *places, unsigned int n,
	      struct task_stat ret_stats[2]);

struct map_range {
	uint64_t start, end;
};

/* The executable mapping at addr, with the errors of map_query_code(). */
int map_query_range(int maps, uint64_t addr, struct map_range *ret);

struct map_found {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min;
	bool is_readable, is_writable, is_shared;
	char name[PATH_MAX]; /* a file's with its " (deleted)", one in brackets, or "" */
};

/* The executable mapping at addr, or the first one behind it. maps: an open
 * /proc/PID/maps. -ENOENT: there is none; -EOPNOTSUPP: this kernel can't be asked, or
 * this is no such file; or another negative errno. */
int map_query_code(int maps, uint64_t addr, struct map_found *ret);

#endif
