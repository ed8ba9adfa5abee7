/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ground truth: runs programs whose stacks are known by construction under
 * the profiler and compares every sample with what can have been. See cases.h
 * for the cases and judge.h for how they are judged.
 *
 * With --inject-fault, the profiler is asked to leave out a part of what makes its
 * stacks true, and the cases that watch over that part must fail.
 */
#include "cases.h"
#include "trial.h"

#include "base/error.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kind that --core runs; its folder, or where there is none, the one above. */
#define CORE_KIND "core"

/*
 * Where all is found that --weft and --dir don't name: in the build tree, or
 * beside this program, as it is in a virtual machine.
 */
struct places {
	char weft[4096], workloads[4096];
};

struct line {
	struct setup setup;
	const char *only;	    /* glob over CASE/KIND */
	unsigned long long samples; /* again and again, until so many are judged */
	bool list;
	bool keep;
};

struct score {
	unsigned int passed, failed, skipped;
	struct finding sum[N_VIEWS];
};

static const char *const words[N_CLASSES] = {
#define X(name, most, word, meaning) word,
	CLASSES(X)
#undef X
};

static const struct case_list *const lists[] = { &cases_thread, &cases_life, &cases_async,
						 &cases_roots, &cases_app };

static const char *const view_words[] = { "thread", "async" };

static void print_classes(const struct finding findings[N_VIEWS])
{
	for (int view = 0; view < N_VIEWS; view++) {
		const char *before = "; ";

		for (int is = 1; is < N_CLASSES; is++) {
			unsigned long long n = findings[view].classes[is];

			if (!n)
				continue;
			printf("%s%s %s %.1f %%", before, view_words[view], words[is],
			       100.0 * n / findings[view].total);
			before = ", ";
		}
	}
}

static void add_findings(struct finding sum[N_VIEWS],
			 const struct finding findings[N_VIEWS])
{
	for (int view = 0; view < N_VIEWS; view++) {
		sum[view].total += findings[view].total;
		sum[view].n_false += findings[view].n_false;
		for (int is = 0; is < N_CLASSES; is++)
			sum[view].classes[is] += findings[view].classes[is];
	}
}

/* All that was judged, in one line. */
static void print_sum(const struct finding sum[N_VIEWS])
{
	printf("judged: %llu samples", sum[0].total);
	for (int view = 0; view < N_VIEWS; view++) {
		printf("; %s view:", view_words[view]);
		for (int is = 0; is < N_CLASSES; is++)
			if (sum[view].classes[is])
				printf(" %s %llu,", words[is], sum[view].classes[is]);
		printf(" false %llu", sum[view].n_false);
	}
	printf("\n");
}

static void print_result(const char *name, const struct finding findings[N_VIEWS],
			 const struct str *wrong, const char *fault, struct score *score)
{
	bool found = wrong->n > 0;
	const char *end = found ? strchr(wrong->s, '\n') : NULL;

	if (fault && found) {
		printf("ok %s: fails under %s: %.*s\n", name, fault,
		       (int)(end - wrong->s), wrong->s);
		score->passed++;
	} else if (fault) {
		printf("not ok %s: does not notice %s\n", name, fault);
		score->failed++;
	} else if (!found) {
		printf("ok %s: %llu samples", name, findings[0].total);
		print_classes(findings);
		printf("\n");
		score->passed++;
	} else {
		for (const char *s = wrong->s; *s; s = end + 1) {
			end = strchr(s, '\n');
			printf("not ok %s: %.*s\n", name, (int)(end - s), s);
		}
		score->failed++;
	}
}

static int run_kind(const struct line *line, const struct truth_case *of,
		    const char *kind, struct score *score)
{
	struct finding findings[N_VIEWS] = { 0 };
	AUTO_STR wrong = { 0 };
	char name[128];
	int err;

	snprintf(name, sizeof(name), "%s/%s", of->name, kind);
	if (line->only && fnmatch(line->only, name, 0))
		return 0;
	if (line->list) {
		puts(name);
		return 0;
	}
	err = trial_run(&line->setup, of, kind, findings, &wrong);
	if (!err)
		err = str_error(&wrong);
	if (err == -ENOMEM)
		return err;
	if (err == RECORDER_LACKS) {
		printf("skip %s: %s\n", name, error_sentence());
		score->skipped++;
	} else if (err) {
		printf("not ok %s: %s\n", name, error_sentence());
		score->failed++;
	} else {
		print_result(name, findings, &wrong, line->setup.fault, score);
		add_findings(score->sum, findings);
	}
	fflush(stdout);
	return 0;
}

static int run_kinds(const struct line *line, const struct truth_case *of,
		     struct score *score)
{
	const char *fault = line->setup.fault;
	const char *kinds = line->setup.core ? CORE_KIND : of->kinds;
	int err = 0;

	if (line->setup.core && !of->core)
		return 0;
	if (fault && (!of->breaks || !path_is_one_of(of->breaks, fault)))
		return 0;
	if (of->tabled && line->setup.unwind && !strcmp(line->setup.unwind, "fp"))
		return 0;
	while (*kinds && !err) {
		size_t n = strcspn(kinds, " ");
		char kind[64];

		snprintf(kind, sizeof(kind), "%.*s", (int)n, kinds);
		err = run_kind(line, of, kind, score);
		kinds += n + strspn(kinds + n, " ");
	}
	return err;
}

static int run_all(const struct line *line, struct score *score)
{
	int err = 0;

	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists) && !err; l++)
		for (size_t i = 0; i < lists[l]->n && !err; i++)
			err = run_kinds(line, &lists[l]->cases[i], score);
	return err;
}

/* Until enough is judged, or nothing is. */
static int run_often(const struct line *line, struct score *score)
{
	unsigned long long before;
	int err;

	do {
		before = score->sum[VIEW_THREAD].total;
		err = run_all(line, score);
	} while (!err && score->sum[VIEW_THREAD].total < line->samples &&
		 score->sum[VIEW_THREAD].total > before);
	if (!err && line->samples && score->sum[VIEW_THREAD].total < line->samples)
		score->failed++;
	if (line->samples)
		print_sum(score->sum);
	return err;
}

static void find_places(struct places *ret)
{
	char self[4000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	snprintf(ret->weft, sizeof(ret->weft), "%s/weft", self);
	snprintf(ret->workloads, sizeof(ret->workloads), "%s", self);
	if (access(ret->weft, X_OK)) {
		snprintf(ret->weft, sizeof(ret->weft), "%s/../../weft", self);
		snprintf(ret->workloads, sizeof(ret->workloads), "%s/../workloads", self);
	}
}

static int usage(void)
{
	fputs("usage: truth [--weft PATH] [--dir WORKLOADS] [--only GLOB] [--core]\n"
	      "             [--inject-fault "
	      "no-interval|no-key|no-identity|no-tables|fp-leaf|late-tables|wrong-truth]"
	      "\n"
	      "             [--unwind auto|table|fp] [--hz N] [--ms N] [--keep FOLDER]\n"
	      "             [--list] [--samples N] [--all-ms N]\n",
	      stderr);
	return 2;
}

/* false: not understood */
static bool read_line(struct line *line, int argc, char **argv)
{
	static const struct option options[] = {
		{ "weft", 1, NULL, 'w' },
		{ "dir", 1, NULL, 'd' },
		{ "only", 1, NULL, 'o' },
		{ "core", 0, NULL, 'c' },
		{ "inject-fault", 1, NULL, 's' },
		{ "hz", 1, NULL, 'f' },
		{ "ms", 1, NULL, 'm' },
		{ "keep", 1, NULL, 'k' },
		{ "list", 0, NULL, 'l' },
		{ "unwind", 1, NULL, 'u' },
		{ "samples", 1, NULL, 'n' },
		{ "all-ms", 1, NULL, 'a' },
		{ 0 },
	};
	struct setup *setup = &line->setup;
	char core[4096];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'w')
			setup->weft = optarg;
		else if (c == 'd')
			setup->workloads = optarg;
		else if (c == 'o')
			line->only = optarg;
		else if (c == 'c')
			setup->core = true;
		else if (c == 's')
			setup->fault = optarg;
		else if (c == 'f')
			setup->hz = atoi(optarg);
		else if (c == 'm')
			setup->ms = atoi(optarg);
		else if (c == 'k')
			setup->scratch = optarg;
		else if (c == 'u')
			setup->unwind = optarg;
		else if (c == 'n')
			line->samples = strtoull(optarg, NULL, 10);
		else if (c == 'a')
			setup->all_ms = atoi(optarg);
		else if (c == 'l')
			line->list = true;
		else
			return false;
	}
	line->keep = setup->scratch != NULL;
	snprintf(core, sizeof(core), "%s/" CORE_KIND, setup->workloads);
	setup->core_is_flat = access(core, X_OK) != 0;
	if (!setup->hz)
		setup->hz = setup->core ? 499 : 4999;
	if (!setup->ms)
		setup->ms = setup->core ? 280 : 270;
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct places places;
	struct line line = { .setup = { .weft = places.weft,
					.workloads = places.workloads } };
	char scratch[] = "/tmp/weft-truth-XXXXXX";
	struct score score = { 0 };
	int err;

	find_places(&places);
	if (!read_line(&line, argc, argv))
		return usage();
	if (!line.keep) {
		if (!mkdtemp(scratch)) {
			perror("mkdtemp");
			return 1;
		}
		line.setup.scratch = scratch;
	}
	err = run_often(&line, &score);
	if (!line.keep) {
		struct files files;

		recorder_name_files(&files, scratch);
		recorder_remove(&files);
		rmdir(scratch);
	}
	if (err)
		fprintf(stderr, "truth: %s\n", error_sentence());
	if (!line.list)
		printf("%u passed, %u failed, %u skipped\n", score.passed, score.failed,
		       score.skipped);
	return err || score.failed || (!line.list && !score.passed);
}
