/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes that there are. One that maps much takes as long to read as hundreds of
 * others, and anybody can have many such. They are read after all others: root's first,
 * then those of all payers by turns, as many mappings as a start can wait for. Of the
 * rest only names are handed on: a tick that meets one has it read.
 */
#ifndef WEFT_PROC_SCAN_ALL_H
#define WEFT_PROC_SCAN_ALL_H

#include "proc/scan.h"

/* Of processes that map much, but for root's; some 0.4 s. */
#define SCAN_LONG_MAPPINGS_MAX (128u << 10)

/* scan_again() of every process of /proc, or until we are to stop. */
int scan_all(struct opener *opener, const struct process_table *known,
	     const struct event_sink *sink);

#endif
