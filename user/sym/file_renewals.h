/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a file was written over while it was known. Of one that is mapped and written
 * all the time (an emulator's memory) weft would open and parse thousands a second: the
 * first few are taken as they come, then one a second, and nothing is known between. */
#ifndef WEFT_SYM_FILE_RENEWALS_H
#define WEFT_SYM_FILE_RENEWALS_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define FILE_RENEWALS_FREE 8
#define FILE_RENEWAL_NS	   SECOND_NS

/* Not by ctime, which changes as well with another link to it, or when a newer file
 * takes its place. */
static inline bool file_was_written(const struct stat *before, const struct stat *now)
{
	return before->st_size != now->st_size ||
	       before->st_mtim.tv_sec != now->st_mtim.tv_sec ||
	       before->st_mtim.tv_nsec != now->st_mtim.tv_nsec;
}

/* Zeroes to begin with. */
struct file_renewals {
	unsigned int n;
	uint64_t last_ns;
};

static inline struct file_renewals file_renewals_add(struct file_renewals before,
						     uint64_t now_ns)
{
	return (struct file_renewals){ before.n + (before.n <= FILE_RENEWALS_FREE),
				       now_ns };
}

static inline bool file_renewals_are_many(const struct file_renewals *renewals,
					  uint64_t now_ns)
{
	return renewals->n > FILE_RENEWALS_FREE &&
	       now_ns - renewals->last_ns < FILE_RENEWAL_NS;
}

#endif
