/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first of n things in order of which something does not hold any more, or n:
 *
 *	LOWER_BOUND(table->n, i, table->items[i].addr < addr)
 *
 * i: the number of the one that is asked about.
 */
#ifndef WEFT_BASE_SEARCH_H
#define WEFT_BASE_SEARCH_H

#include <stddef.h>

#define LOWER_BOUND(n, i, is_before)                                                     \
	({                                                                               \
		size_t low_ = 0, high_ = (n);                                            \
                                                                                         \
		while (low_ < high_) {                                                   \
			size_t i = low_ + (high_ - low_) / 2;                            \
                                                                                         \
			if (is_before)                                                   \
				low_ = i + 1;                                            \
			else                                                             \
				high_ = i;                                               \
		}                                                                        \
		low_;                                                                    \
	})

#endif
