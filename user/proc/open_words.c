// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_words.h"

#include <sys/uio.h>

void open_words(pid_t pid, const uint64_t *addrs, unsigned int n, struct open_word *ret)
{
	for (unsigned int i = 0; i < n; i++) {
		struct iovec here = { &ret[i].value, sizeof(ret[i].value) };
		struct iovec there = { (void *)(uintptr_t)addrs[i], here.iov_len };

		ret[i].was_read = process_vm_readv(pid, &here, 1, &there, 1, 0) ==
				  (ssize_t)here.iov_len;
	}
}
