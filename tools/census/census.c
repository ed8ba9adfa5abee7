// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind-census [-v] PATH…   counts what the unwind tables of all ELF files below
 *                            come to: rows, rules, bytes, time, and what no rule
 *                            can hold, by form of expression. -v: each file, too.
 *
 * For deciding what a rule must be able to say. Reads every file once, or twice
 * where something is unsupported; writes nothing but its sums.
 */
#include "forms.h"

#include "base/error.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const cfa_names[] = {
#define X(name, text) #name,
	UNWIND_CFAS(X)
#undef X
};

static const char *const unsupported_names[] = {
#define X(name, text) #name,
	CFI_UNSUPPORTED(X)
#undef X
};

static struct {
	bool verbose;
	unsigned long files, without, failed;
	unsigned long fdes, bad, outside, blankets, overlaps, debug, keeps_fp;
	unsigned long rows, pages, most_rules;
	unsigned long cfas[N_UNWIND_CFAS], unsupported[N_CFI_UNSUPPORTED];
	double seconds, longest;
	char slowest[4096];
	struct forms forms;
} sums;

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int ignore_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	return 0;
}

static void count_form(void *arg, enum cfi_unsupported unsupported, const uint8_t *expr,
		       size_t n)
{
	forms_count(&sums.forms, unsupported_names[unsupported], expr, n);
}

static void count_unsupported(int fd)
{
	const struct cfi_sink sink = { .row = ignore_row, .unsupported = count_form };
	AUTO_ELF file = { 0 };
	struct cfi_stats stats;

	if (!elf_file_open(&file, fd))
		cfi_read(&file, &sink, &stats);
}

static void add(const char *path, int fd, const struct unwind_table *table, double took)
{
	const struct unwind_stats *stats = unwind_table_stats(table);
	const struct unwind_head *head = unwind_table_head(table);
	unsigned long unsupported = 0;

	sums.files++;
	sums.fdes += stats->cfi.n_fdes;
	sums.bad += stats->cfi.bad;
	sums.outside += stats->cfi.outside;
	sums.blankets += stats->cfi.blankets;
	sums.overlaps += stats->cfi.overlaps;
	sums.debug += stats->cfi.n_debug;
	sums.keeps_fp += (head->flags & UNWIND_KEEPS_FP) != 0;
	sums.rows += stats->n_rows;
	sums.pages += head->n_pages;
	if (sums.most_rules < stats->n_rules)
		sums.most_rules = stats->n_rules;
	for (int i = 0; i < N_UNWIND_CFAS; i++)
		sums.cfas[i] += stats->rows[i];
	for (int i = 0; i < N_CFI_UNSUPPORTED; i++) {
		sums.unsupported[i] += stats->cfi.unsupported[i];
		unsupported += stats->cfi.unsupported[i];
	}
	sums.seconds += took;
	if (took > sums.longest) {
		sums.longest = took;
		snprintf(sums.slowest, sizeof(sums.slowest), "%s", path);
	}
	if (unsupported)
		count_unsupported(fd);
	if (sums.verbose)
		printf("%s: %u functions, %u rows, %u rules, %u KB, %lu unsupported, %u "
		       "bad, "
		       "%s, %.1f ms\n",
		       path, stats->cfi.n_fdes, stats->n_rows, stats->n_rules,
		       head->n_pages * UNWIND_PAGE_BYTES / 1024, unsupported,
		       stats->cfi.bad,
		       head->flags & UNWIND_KEEPS_FP ? "keeps fp" : "no fp", took * 1e3);
}

static int look_at(const char *path, const struct stat *st, int type, struct FTW *at)
{
	AUTO(unwind_table) table = NULL;
	AUTO_CLOSE int fd = -1;
	char magic[SELFMAG];
	double begun = now();
	int err;

	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || pread(fd, magic, SELFMAG, 0) != SELFMAG ||
	    memcmp(magic, ELFMAG, SELFMAG))
		return 0;
	err = unwind_table_build(fd, NULL, &table);
	if (!err) {
		add(path, fd, table, now() - begun);
	} else if (err == -ENODATA) {
		sums.without++;
	} else if (err != -ENOEXEC) {
		sums.failed++;
		printf("%s: %s\n", path, error_sentence());
	}
	return 0;
}

static void tell(void)
{
	unsigned long real = sums.rows - sums.cfas[UNWIND_CFA_NONE];

	printf("%lu files with call frame information, %lu without, %lu failed\n",
	       sums.files, sums.without, sums.failed);
	printf("%lu functions; %lu records bad, %lu outside of code, %lu of all code at "
	       "once, %lu overlaps, %lu functions by .debug_frame\n",
	       sums.fdes, sums.bad, sums.outside, sums.blankets, sums.overlaps,
	       sums.debug);
	printf("%lu rows in %lu KB; at most %lu rules in a file; %lu files keep frame "
	       "pointers\n",
	       sums.rows, sums.pages * UNWIND_PAGE_BYTES / 1024, sums.most_rules,
	       sums.keeps_fp);
	printf("%.2f s; the longest %.1f ms, %s\n", sums.seconds, sums.longest * 1e3,
	       sums.slowest);
	for (int i = 0; i < N_UNWIND_CFAS; i++)
		printf("  %-12s %10lu rows\n", cfa_names[i], sums.cfas[i]);
	printf("%.5f %% of %lu rows that say something are supported; unsupported are:\n",
	       real ? 100 - 100.0 * (double)sums.cfas[UNWIND_CFA_UNSUPPORTED] /
				       (double)real
		    : 0,
	       real);
	for (int i = 0; i < N_CFI_UNSUPPORTED; i++)
		printf("  %-12s %10lu rows\n", unsupported_names[i], sums.unsupported[i]);
	forms_tell(&sums.forms);
}

int main(int argc, char **argv)
{
	int first = 1;

	if (argc > 1 && !strcmp(argv[1], "-v")) {
		sums.verbose = true;
		first++;
	}
	if (first == argc) {
		fprintf(stderr, "usage: unwind-census [-v] PATH…\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		if (nftw(argv[i], look_at, 64, FTW_PHYS | FTW_MOUNT))
			fprintf(stderr, "unwind-census: %s: %s\n", argv[i],
				strerror(errno));
	tell();
	return 0;
}
