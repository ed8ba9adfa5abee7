/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening files that other processes named. The name leads wherever its owner
 * wants, so what is opened is checked against what the kernel says is mapped:
 * a regular file of the same inode, or nothing. All of this may wait for as long as
 * somebody likes: who must not wait asks the opener (proc/opener.h).
 */
#ifndef WEFT_PROC_OPEN_H
#define WEFT_PROC_OPEN_H

#include "base/cleanup.h"
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

/* Where /proc/PID/map_files leads, of O_PATH; or -errno. If the range is not there: what
 * lies at its start as code now, which may be another file. */
int open_map_place(pid_t pid, const struct mapping *map);

/* Whose a process is: its user, how it knows its own pid, and whom what it costs is
 * counted to. What may be read is a question of the user alone. */
struct owner {
	bool known;
	uid_t uid;
	pid_t inner_pid;
	uid_t payer; /* proc/payer.h */
	/* or a thread that may have; not so of kernel threads, and of who has ended with
	 * all threads */
	bool has_memory;
};

/* Of one that lives; else not known. */
struct owner open_owner(pid_t pid);

/* The same without waiting for anybody, so its user pays. */
struct owner open_user(pid_t pid);

/*
 * The perf map that a JIT left for pid, by its innermost pid, in its own /tmp, or in
 * ours when it has ended: a regular file, at most max_bytes, that the process's user
 * owns, or root and all may read it; of one that has ended, that is the user whom it was
 * seen to have (`kept`). -EPERM: it is another's, or the kernel makes it up.
 */
int open_perf_map(pid_t pid, const struct owner *kept, uint64_t max_bytes, int *ret_fd);

#endif
