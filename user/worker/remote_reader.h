/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of another process's memory, for one who must not wait. To read a page that
 * is not there brings it in, and that takes as long as its owner likes, where it is
 * a file of his own file system, or his to provide (userfaultfd). So a child of ours
 * reads, and is killed when it takes long.
 */
#ifndef WEFT_WORKER_REMOTE_READER_H
#define WEFT_WORKER_REMOTE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_READER_WORDS_MAX 64
#define REMOTE_READER_LEFT_MAX	16

/* Zeroes to begin with. */
struct remote_reader {
	uint64_t full_ns;    /* when the last answer that did not come is forgotten */
	unsigned int n_left; /* children that were killed, and took long to end */
	pid_t left[REMOTE_READER_LEFT_MAX];
};

/* n words, REMOTE_READER_WORDS_MAX at most; one that can't be read stays as it is in ret.
 * false: not read at all. After the third late answer nobody is asked for a while (one
 * is forgotten each 20 s), nor while so many children have not ended. */
bool remote_reader_read(struct remote_reader *reader, pid_t pid, const uint64_t *addrs,
			unsigned int n, uint32_t *ret);

#endif
