/* SPDX-License-Identifier: BSD-2-Clause */
#include "ledger.h"

#include "base/error.h"
#include "json.h"

/*
 * What may be lost, of all entries. A workload has one or two busy threads and
 * the rates are ordinary: nothing has a reason to be lost.
 */
static const struct {
	const char *reason;
	double most;
} losses[] = {
	{ "ledger.oncpu.outcomes.no_scratch", 0 },
	{ "ledger.oncpu.outcomes.no_ring", .001 },
};

/* Of the kept ones, how many may be so. */
static const struct {
	const char *what;
	double most;
} doubts[] = {
	{ "samples.unmatched", .02 },
	{ "ledger.oncpu.endings.cycle", .05 },
	{ "ledger.oncpu.endings.foreign", 0 },
};

/* Of all ticks that were due, how many may never have come, beside those that the
 * hypervisor kept from the machine. */
#define MISSED_MAX   .2
#define MISSED_FIRST 50 /* ticks that make a share */

/* A number that must be there. */
static unsigned long long number(const char *stats, const char *where, struct str *wrong)
{
	unsigned long long n = 0;

	if (json_number(stats, where, &n))
		str_addf(wrong, "ledger: %s\n", error_sentence());
	return n;
}

static unsigned long long sum(const char *stats, const char *where, struct str *wrong)
{
	unsigned long long n = 0;

	if (json_sum(stats, where, &n))
		str_addf(wrong, "ledger: %s\n", error_sentence());
	return n;
}

static void check_equal(const char *a, unsigned long long x, const char *b,
			unsigned long long y, struct str *wrong)
{
	if (x != y)
		str_addf(wrong, "ledger: %s %llu, but %s %llu\n", a, x, b, y);
}

static void check_doubt(const char *stats, const char *what, double most,
			unsigned long long kept, struct str *wrong)
{
	unsigned long long n = number(stats, what, wrong);

	if (n > most && n > 2)
		str_addf(wrong, "ledger: %s is %llu of %llu\n", what, n, kept);
}

void ledger_check(const char *stats, const unsigned long long *shown, size_t n_shown,
		  double torn, struct str *wrong)
{
	unsigned long long entered = number(stats, "ledger.oncpu.entered", wrong);
	unsigned long long kept = number(stats, "ledger.oncpu.outcomes.kept", wrong);
	/* which end before they meet a root, perhaps on another stack */
	double awaited = ledger_awaited(stats, wrong);

	check_equal("entered", entered, "outcomes",
		    sum(stats, "ledger.oncpu.outcomes", wrong), wrong);
	check_equal("kept", kept, "endings", sum(stats, "ledger.oncpu.endings", wrong),
		    wrong);
	check_equal("kept", kept, "samples", number(stats, "samples.total", wrong),
		    wrong);
	for (size_t i = 0; i < n_shown; i++)
		check_equal("kept", kept, "in the file", shown[i], wrong);

	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		unsigned long long n = number(stats, losses[i].reason, wrong);

		if (n > losses[i].most * entered)
			str_addf(wrong, "ledger: %s is %llu of %llu\n", losses[i].reason,
				 n, entered);
	}
	for (size_t i = 0; i < sizeof(doubts) / sizeof(*doubts); i++)
		check_doubt(stats, doubts[i].what, doubts[i].most * kept + awaited, kept,
			    wrong);
	check_doubt(stats, "ledger.oncpu.endings.torn", (torn + .02) * kept, kept, wrong);
}

double ledger_awaited(const char *stats, struct str *wrong)
{
	return (double)number(stats, "samples.awaited", wrong);
}

void ledger_check_missed(const char *stats, struct str *wrong)
{
	unsigned long long due = number(stats, "expected_ticks", wrong);
	unsigned long long missed = number(stats, "missed_ticks_estimate", wrong);
	unsigned long long stolen = number(stats, "stolen_ticks_estimate", wrong);

	if (due > MISSED_FIRST && missed - stolen > MISSED_MAX * due)
		str_addf(wrong,
			 "ledger: %llu of %llu ticks never came, and %llu were stolen\n",
			 missed, due, stolen);
}

double ledger_unread(const char *stats, struct str *wrong)
{
	return (double)number(stats, "ledger.oncpu.outcomes.ring_full", wrong);
}

double ledger_late_ns(const char *stats, uint64_t kept_ns, struct str *wrong)
{
	double ns = (double)number(stats, "keys.delay_max_ns", wrong);

	if (ns > LEDGER_LATE_NS + (double)kept_ns)
		str_addf(wrong, "a key was found %.0f ms after its mapping\n", ns / 1e6);
	return ns;
}
