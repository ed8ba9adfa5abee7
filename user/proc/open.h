/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening files that other processes named. The name leads wherever its owner
 * wants, so what is opened is checked against what the kernel says is mapped:
 * a regular file of the same inode, or nothing.
 */
#ifndef WEFT_PROC_OPEN_H
#define WEFT_PROC_OPEN_H

#include "core/module.h"
#include "proc/process.h"

#include <sys/types.h>

/*
 * The file of a mapping, read only: by /proc/PID/map_files while the process
 * lives, else by path below its root, else below ours. -ENOENT: none of these
 * leads to the mapped file.
 */
int open_mapped(pid_t pid, const struct mapping *map, const struct module *module,
		int *ret_fd);

/*
 * The perf map that a JIT left for pid, by its innermost pid, in its own /tmp:
 * a regular file owned by the process's user or by root, at most max_bytes.
 */
int open_perf_map(pid_t pid, uint64_t max_bytes, int *ret_fd);

#endif
