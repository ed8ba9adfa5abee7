/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the profiler's own account add up? Every entry of its program has one
 * outcome, every kept sample one ending, and the files hold what was kept.
 */
#ifndef TRUTH_LEDGER_H
#define TRUTH_LEDGER_H

#include "base/str.h"

#include <stdint.h>

/*
 * stats: the text of --stats-json; shown: the samples in each view's file; torn: of
 * the samples, how many may be torn beside those that ever are.
 * Adds a sentence to `wrong` for each thing amiss.
 */
void ledger_check(const char *stats, const unsigned long long *shown, size_t n_shown,
		  double torn, struct str *wrong);

/*
 * How long the key of a process took, at most, from its mapping to where the
 * sampler finds it, as the profiler itself has measured it. It may be no longer
 * than LEDGER_LATE_NS, beside the time for which the profiler was kept from its work: if
 * it forgets to look, that is never; a slow disk takes a second.
 */
#define LEDGER_LATE_NS 3000000000.0
double ledger_late_ns(const char *stats, uint64_t kept_ns, struct str *wrong);

/* How many samples came before the unwind table of their code was there. */
double ledger_awaited(const char *stats, struct str *wrong);

/* How many samples found their ring full, as nobody had come to read it. */
double ledger_unread(const char *stats, struct str *wrong);

/* Did the ticks come that were due? An emulator's often don't. */
void ledger_check_missed(const char *stats, struct str *wrong);

#endif
