/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of another process's memory. To read a page that is not there brings it in, and
 * that takes as long as its owner likes, where it is a file of his own file system, or
 * his to provide (userfaultfd): who must not wait asks the opener (proc/opener.h).
 */
#ifndef WEFT_PROC_OPEN_WORDS_H
#define WEFT_PROC_OPEN_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define OPEN_WORDS_MAX 64

struct open_word {
	uint32_t value, was_read; /* 0: it could not be, and means nothing */
};

/* From addr on into all of `into`, or `least` bytes of it at least. -ESRCH: the process
 * is gone; -EPERM: its memory can't be read; -EFAULT: there is none. */
int open_memory(pid_t pid, uint64_t addr, struct iovec into, size_t least);

/* How many bytes came before there was no memory; or -ESRCH, -EPERM. */
ssize_t open_memory_part(pid_t pid, uint64_t addr, struct iovec into);

/* n of them. */
void open_words(pid_t pid, const uint64_t *addrs, unsigned int n, struct open_word *ret);

#endif
