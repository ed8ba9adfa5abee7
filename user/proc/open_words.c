// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_words.h"

#include "base/error.h"

#include <errno.h>

ssize_t open_memory_part(pid_t pid, uint64_t addr, struct iovec into)
{
	struct iovec there = { (void *)(uintptr_t)addr, into.iov_len };
	ssize_t got = process_vm_readv(pid, &into, 1, &there, 1, 0);

	if (got < 0 && errno == ESRCH)
		return fail(-ESRCH, "pid %d is gone", pid);
	if (got < 0 && errno == EPERM)
		return fail(-EPERM, "the memory of pid %d can't be read", pid);
	return got < 0 ? 0 : got;
}

int open_memory(pid_t pid, uint64_t addr, struct iovec into, size_t least)
{
	ssize_t got = open_memory_part(pid, addr, into);

	if (got < 0)
		return (int)got;
	return (size_t)got >= least
		       ? 0
		       : fail(-EFAULT, "pid %d has no memory where it says", pid);
}

void open_words(pid_t pid, const uint64_t *addrs, unsigned int n, struct open_word *ret)
{
	for (unsigned int i = 0; i < n; i++) {
		struct iovec here = { &ret[i].value, sizeof(ret[i].value) };
		struct iovec there = { (void *)(uintptr_t)addrs[i], here.iov_len };

		ret[i].was_read = process_vm_readv(pid, &here, 1, &there, 1, 0) ==
				  (ssize_t)here.iov_len;
	}
}
