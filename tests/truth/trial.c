/* SPDX-License-Identifier: BSD-2-Clause */
#include "trial.h"

#include "ledger.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An emulated machine takes this share of a run more for starting and ending. */
#define CORE_MORE .35

/* A run that had too few samples, or missed too many, is tried again for twice as long,
 * and up to so many times as long. */
#define TIMES_MAX 8

/* Fewer than this, and nothing was shown. */
static unsigned long long least_samples(const struct setup *setup,
					const struct truth_case *of)
{
	double busy = of->busy > 0 ? of->busy : .07;
	return (unsigned long long)(busy * setup->hz * recorder_ms(setup, of) / 1000);
}

static int judge_file(const struct judge *judge, const struct files *files,
		      enum view view, struct finding *ret, struct str *wrong)
{
	struct folded folded;
	int err = folded_read(&folded, files->views[view]);

	if (err)
		return err;
	judge_view(judge, view, &folded, ret, wrong);
	folded_free(&folded);
	return 0;
}

/* What was recorded live and what the tape gives must be the same bytes. */
static int check_tape(const struct files *files, struct str *wrong)
{
	AUTO_FREE char *live = NULL, *again = NULL;
	int err = folded_read_text(&live, files->recorded);

	if (!err)
		err = folded_read_text(&again, files->views[VIEW_ASYNC]);
	if (!err && strcmp(live, again))
		str_add(wrong, "the tape gives another file than the recording did\n");
	return err;
}

#define BUSY_MAX 2 /* threads of a workload at a time */

/*
 * What came before its table is excused by the profiler's own word, but only for as
 * long as a witness excuses the profiler. A workload of lives that are as short as a
 * look at them (awaited) is cut in each of them, by a share and by all of the waits.
 */
static void check_awaited(const struct setup *setup, const struct judge *judge,
			  const struct excuse *excuse, unsigned long long total,
			  struct str *wrong)
{
	double share = judge->of->awaited;
	/* what runs already has its tables before the first tick */
	uint64_t ns = (judge->of->attached ? 0 : excuse->deadline_ns) +
		      (share > 0 ? excuse->waited_ns : 0);
	double most = (double)ns / 1e9 * setup->hz * BUSY_MAX + share * (double)total;

	if (judge->awaited > most + 2)
		str_addf(
			wrong,
			"%.0f of %llu samples came before their tables, and %.0f are "
			"the most, as for %.0f ms the profiler could not have had them\n",
			judge->awaited, total, most, (double)ns / 1e6);
}

/* A ring fills while the profiler waits, and has room again once it has run. */
static void check_unread(const struct setup *setup, const struct excuse *excuse,
			 double unread, struct str *wrong)
{
	double most = (double)excuse->waited_ns / 1e9 * setup->hz * BUSY_MAX;

	if (unread > most)
		str_addf(wrong,
			 "%.0f samples found their ring full, and %.0f are the most, as "
			 "the profiler waited for %.0f ms\n",
			 unread, most, (double)excuse->waited_ns / 1e6);
}

/*
 * A key that was on its way is excused by the profiler's own word as well, and no longer
 * than the witness says. To and fro: the profiler measures from the mapping's record to
 * its reading.
 */
static double late_ns(const struct setup *setup, const struct excuse *excuse,
		      double told_ns)
{
	double most = (double)(excuse->deadline_ns + excuse->waited_ns);

	return setup->core || 2 * told_ns < most ? 2 * told_ns : most;
}

static int judge_files(const struct setup *setup, struct judge *judge,
		       const struct files *files, struct finding findings[N_VIEWS],
		       struct str *wrong)
{
	AUTO_FREE char *stats = NULL;
	AUTO_STR unheeded = { 0 };
	struct str *late = judge->of->untimed ? &unheeded : wrong;
	unsigned long long shown[N_VIEWS];
	int err = folded_read_text(&stats, files->stats);

	if (err)
		return err;
	judge->late = late_ns(setup, &files->excuse,
			      ledger_late_ns(stats, files->excuse.waited_ns, late)) *
		      setup->hz / 1e9;
	judge->awaited = ledger_awaited(stats, wrong);
	for (int view = 0; view < N_VIEWS && !err; view++)
		err = judge_file(judge, files, view, &findings[view], wrong);
	if (!err && !setup->core)
		err = check_tape(files, wrong);
	for (int view = 0; view < N_VIEWS; view++)
		shown[view] = findings[view].total;
	if (!setup->core) {
		check_awaited(setup, judge, &files->excuse, shown[0], wrong);
		check_unread(setup, &files->excuse, ledger_unread(stats, wrong), wrong);
	}
	ledger_check(stats, shown, N_VIEWS, judge->of->torn, wrong);
	if (!setup->core)
		ledger_check_missed(stats, late);
	if (shown[0] < least_samples(setup, judge->of))
		str_addf(wrong, "%llu samples, and %llu are the least\n", shown[0],
			 least_samples(setup, judge->of));
	return err;
}

/*
 * Did the machine find the time for what this run should show? A program takes as much
 * CPU time to start on a crowded machine as on any, and of the same seconds more. A
 * machine that stood still until a workload's time was over saw only how it began.
 */
static int had_time(const struct setup *setup, const struct judge *judge,
		    const struct files *files, bool *ret)
{
	AUTO_STR missed = { 0 }, heeded_later = { 0 };
	AUTO_FREE char *stats = NULL;
	struct finding finding;
	int err = judge_file(judge, files, VIEW_THREAD, &finding, &heeded_later);

	if (!err)
		err = folded_read_text(&stats, files->stats);
	if (!err && !setup->core)
		ledger_check_missed(stats, &missed);
	*ret = !err && finding.total >= least_samples(setup, judge->of) &&
	       !judge_is_over(judge, &finding, CLASS_START) && !missed.n &&
	       (setup->fault || !finding.lacks_part);
	return err;
}

static int read_awaited(struct judge *judge, const struct files *files, struct str *wrong)
{
	AUTO_FREE char *stats = NULL;
	int err = folded_read_text(&stats, files->stats);

	if (!err)
		judge->awaited = ledger_awaited(stats, wrong);
	return err;
}

/* Too few samples show no shares, but a stack that never existed is one too many. */
static int judge_too_few(struct judge *judge, const struct files *files,
			 struct str *wrong)
{
	int err = read_awaited(judge, files, wrong);

	for (int view = 0; view < N_VIEWS && !err; view++) {
		AUTO_STR said = { 0 };
		struct finding finding;

		err = judge_file(judge, files, view, &finding, &said);
		if (!err && finding.n_false)
			str_add(wrong, said.s);
	}
	return err;
}

/* On a crowded machine, a longer run may get what a short one does not. */
static int record_enough(const struct setup *setup, struct judge *judge, const char *kind,
			 struct files *ret, struct str *wrong)
{
	struct setup longer = *setup;
	int err;

	for (longer.times = 1;; longer.times *= 2) {
		bool enough = false;

		err = recorder_run(&longer, judge->of, kind, ret);
		if (!err)
			err = had_time(setup, judge, ret, &enough);
		if (err || enough || longer.times == TIMES_MAX)
			return err;
		if (!setup->fault)
			err = judge_too_few(judge, ret, wrong);
		if (err)
			return err;
	}
}

/* musl's own code has no call frame information. */
static bool has_tables(const struct setup *setup, const char *kind)
{
	if (setup->unwind && !strcmp(setup->unwind, "fp"))
		return false;
	return strncmp(kind, "musl", strlen("musl")) != 0;
}

/* A wrong belief: in the first stack of the async view, the last caller before who
 * runs is another. */
static int believe_wrongly(struct judge *judge)
{
	struct path *path = &judge->rules[VIEW_ASYNC].items[0].path;
	char *nobody = strdup("nobody");
	size_t at = path->after_seam - 2;

	if (!nobody || path->after_seam < 2) {
		free(nobody);
		return fail(-EINVAL, "no caller to be wrong about");
	}
	free(path->items[at].names);
	path->items[at].names = nobody;
	return 0;
}

/* Of one with a fault, in its stacks or, where its stacks say that they are cut, in the
 * ledger of what came too late. */
static int judge_recording(const struct setup *setup, struct judge *judge,
			   const struct files *files, struct finding findings[N_VIEWS],
			   struct str *wrong)
{
	int err;

	if (!setup->fault || !strcmp(setup->fault, "late-tables"))
		return judge_files(setup, judge, files, findings, wrong);
	err = read_awaited(judge, files, wrong);
	return err ? err
		   : judge_file(judge, files, VIEW_ASYNC, &findings[VIEW_ASYNC], wrong);
}

/* Whoever reads that it failed wants to know what became of the names, and why. */
static void say_names(const struct files *files)
{
	AUTO_FREE char *stats = NULL;
	const char *symbols;

	if (folded_read_text(&stats, files->stats))
		return;
	symbols = strstr(stats, "\"symbols\"");
	if (symbols)
		printf("# %.*s\n", (int)strcspn(symbols, "}"), symbols);
}

int trial_run(const struct setup *setup, const struct truth_case *of, const char *kind,
	      struct finding findings[N_VIEWS], struct str *wrong)
{
	struct judge judge;
	struct files files;
	int err = judge_open(&judge, of);

	if (err)
		return err;
	if (setup->fault && !strcmp(setup->fault, "wrong-truth"))
		err = believe_wrongly(&judge);
	judge.by_table = has_tables(setup, kind);
	judge.more = setup->core ? CORE_MORE : 0;
	if (!err)
		err = record_enough(setup, &judge, kind, &files, wrong);
	if (!err)
		err = judge_recording(setup, &judge, &files, findings, wrong);
	if (!err && wrong->n && !setup->fault)
		say_names(&files);
	judge_close(&judge);
	return err;
}
