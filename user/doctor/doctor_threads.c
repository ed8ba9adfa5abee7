// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/doctor_threads.h"

#include "shared/async_abi.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define THREADS_MAX 16384

/*
 * glibc's struct pthread, from the address that a thread gave to the kernel by
 * set_robust_list(2). The distances hold in every glibc from 2.23 to 2.43 on
 * both machines, and a pointer that must lead back is the witness.
 */
#define TID_BEFORE_ROBUST  16
#define SPECIFIC_AFTER_TID 576
#define BLOCK_BEFORE_TABLE 512

bool doctor_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	struct iovec here = { buf, n };
	struct iovec there = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool read_word(pid_t pid, uint64_t addr, uint64_t *ret)
{
	return doctor_read(pid, addr, ret, sizeof(*ret));
}

/* The table of a thread's pthread slots; false: not glibc's, or not to be had. */
static bool find_table(pid_t pid, pid_t tid, uint64_t *ret)
{
	uint64_t robust = 0, table, first_block;
	size_t bytes;

	if (syscall(SYS_get_robust_list, tid, &robust, &bytes) || !robust)
		return false;
	table = robust - TID_BEFORE_ROBUST + SPECIFIC_AFTER_TID;
	if (!read_word(pid, table, &first_block))
		return false;
	*ret = table;
	return first_block == table - BLOCK_BEFORE_TABLE;
}

/* The root that a key leads to; 0: none. */
static uint64_t find_root(pid_t pid, uint64_t table, uint32_t key)
{
	uint64_t block, holder, root;

	if (key >= ASYNC_KEYS || !read_word(pid, table + 8 * (key / 32), &block) ||
	    !block || !read_word(pid, block + 16 * (key % 32) + 8, &holder) || !holder ||
	    !read_word(pid, holder, &root))
		return 0;
	return root;
}

static void count_thread(struct doctor_process *process, pid_t tid)
{
	struct doctor_threads *threads = &process->threads;
	struct async_root root;
	uint64_t table, addr = 0;

	threads->total++;
	if (!find_table(process->pid, tid, &table)) {
		threads->unknown++;
		return;
	}
	for (unsigned int i = 0; i < process->n_keys && !addr; i++)
		if (process->keys[i].readable)
			addr = find_root(process->pid, table, process->keys[i].value);
	if (!addr)
		return;
	threads->with_root++;
	if (doctor_read(process->pid, addr, &root, sizeof(root)) && root.top)
		threads->running++;
}

void doctor_count_threads(struct doctor_process *process)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)) && process->threads.total < THREADS_MAX) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0)
			count_thread(process, tid);
	}
	closedir(dir);
}
