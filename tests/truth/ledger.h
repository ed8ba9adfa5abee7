/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the profiler's own account add up? Every entry of its program has one
 * outcome, every kept sample one ending, and the files hold what was kept.
 */
#ifndef TRUTH_LEDGER_H
#define TRUTH_LEDGER_H

#include "base/str.h"

/*
 * stats: the text of --stats-json; shown: the samples in each view's file.
 * Adds a sentence to `wrong` for each thing amiss.
 */
void ledger_check(const char *stats, const unsigned long long *shown, size_t n_shown,
		  struct str *wrong);

#endif
