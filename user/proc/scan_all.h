/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes that there are. Anybody can have thousands, and one that maps much takes
 * as long to read as hundreds of others. So root's are read first, then those of all
 * payers by turns; then, in the same order, those that map much. This takes as long as
 * somebody can wait: of the rest only names are handed on. Those that map little are
 * listed, and read by and by; those that map much when a tick meets them.
 */
#ifndef WEFT_PROC_SCAN_ALL_H
#define WEFT_PROC_SCAN_ALL_H

#include "proc/scan.h"

/* Of processes that map much, but for root's: for the memory and the time that it takes
 * to keep them. */
#define SCAN_LONG_MAPPINGS_MAX (32u << 10)

/* Processes to be read one by one; a VEC. */
struct scan_queue {
	uint32_t *items;
	size_t n, room;
};

/* scan_again() of every process of /proc, or until we are to stop, or for others_ns of
 * those that are not root's (UINT64_MAX: all). Adds to *ret_later whom there was no time
 * for; else it may be NULL. */
int scan_all(struct opener *opener, const struct process_table *known,
	     const struct event_sink *sink, uint64_t others_ns,
	     struct scan_queue *ret_later);

#endif
