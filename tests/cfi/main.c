// SPDX-License-Identifier: BSD-2-Clause
/*
 * compare READELF BEFORE FILE…   compares each file's table with what readelf says
 *                                of it; in TAP, numbered behind BEFORE others
 *
 * The rows are those of the pages that a tick would read, so that the reader of
 * call frame information, the builder and the layout are all checked. Each byte
 * of code for which either has a rule is compared. Where readelf shows no more
 * than that there is an expression, it is looked for in the function's.
 */
#include "bare.h"
#include "exprs.h"
#include "image.h"
#include "readelf.h"

#include "base/error.h"
#include "sym/vdso.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLD_MAX 5 /* disagreements that are shown of a file */

struct sums {
	unsigned long rows, wrong, exprs, unsupported, overlaps;
};

static int offset_of(const char *cell)
{
	return atoi(cell + strcspn(cell, "+-"));
}

static bool is_register(const char *cell, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(cell, name, n) && (cell[n] == '+' || cell[n] == '-');
}

static bool is_expr(const char *cell)
{
	return !strcmp(cell, "exp") || !strcmp(cell, "vexp");
}

static bool is_saved(const char *cell)
{
	return cell[0] == 'c' && (cell[1] == '+' || cell[1] == '-');
}

static bool is_unsaid(const char *cell)
{
	return !*cell || !strcmp(cell, "s") || !strcmp(cell, "n") || !strcmp(cell, "u");
}

static bool cfa_agrees(const struct truth *truth, const struct truth_row *row,
		       const struct unwind_rule *rule)
{
	const char *sp = truth->is_arm64 ? "sp" : "rsp";
	const char *fp = truth->is_arm64 ? "x29" : "rbp";

	if (is_expr(row->cfa))
		return exprs_allow(&truth->exprs, row->begin, rule);
	if (rule->cfa_offset != offset_of(row->cfa) || rule->deref_offset)
		return false;
	if (is_register(row->cfa, sp))
		return rule->cfa == UNWIND_CFA_SP;
	if (is_register(row->cfa, fp))
		return rule->cfa == UNWIND_CFA_FP;
	return rule->cfa == UNWIND_CFA_REG;
}

/* Where gcc's aligned frame is gone, or its last instruction but one goes back to the
 * stack as it was, the frame pointer is the caller's again, whatever is said. */
static bool is_fp_back(const struct truth_row *row, uint64_t pc)
{
	return !strcmp(row->cfa, "rsp+8") ||
	       (!strncmp(row->cfa, "r1", 2) && pc + 4 >= row->end);
}

static bool fp_agrees(const struct truth_row *row, uint64_t pc,
		      const struct unwind_rule *rule)
{
	if (is_saved(row->fp))
		return rule->fp == UNWIND_FP_CFA &&
		       8 * rule->fp_words == offset_of(row->fp);
	/* readelf has one letter for what is undefined and what nobody names */
	if (is_unsaid(row->fp))
		return (rule->fp == UNWIND_FP_SAME ||
			(rule->fp == UNWIND_FP_LOST && row->fp[0] == 'u')) &&
		       !rule->fp_words;
	if (!strcmp(row->fp, "exp"))
		return rule->fp == UNWIND_FP_DEREF || rule->fp == UNWIND_FP_CFA ||
		       rule->fp == UNWIND_FP_LOST ||
		       (rule->fp == UNWIND_FP_SAME && is_fp_back(row, pc));
	return rule->fp == UNWIND_FP_LOST;
}

static bool bx_agrees(const struct truth_row *row, const struct unwind_rule *rule)
{
	if (is_saved(row->bx))
		return 8 * rule->bx_words == offset_of(row->bx);
	if (is_unsaid(row->bx))
		return !rule->bx_words ||
		       (rule->bx_words == UNWIND_BX_LOST && row->bx[0] == 'u');
	return rule->bx_words != 0;
}

static bool ra_agrees(const struct truth *truth, const struct truth_row *row,
		      const struct unwind_rule *rule)
{
	if (is_saved(row->ra))
		return rule->ra == UNWIND_RA_CFA &&
		       8 * rule->ra_words == offset_of(row->ra);
	if (!strcmp(row->ra, "exp"))
		return rule->ra == UNWIND_RA_CFA;
	if (row->ra[0] == 'r')
		return rule->ra == UNWIND_RA_REG && rule->ra_words == atoi(row->ra + 1);
	return truth->is_arm64 && is_unsaid(row->ra) && rule->ra == UNWIND_RA_LR;
}

/* Ends by a jump into another's frame: gcc's __builtin_eh_return. */
static bool leaves_by_another(const struct truth *truth, const struct truth_row *row)
{
	return !truth->is_arm64 && row + 1 < truth->rows + truth->n &&
	       row[1].begin == row->end && !strcmp(row->cfa, "rbp+16") &&
	       !strncmp(row[1].cfa, "rcx+", 4);
}

/* What no rule can hold, as far as readelf shows it. */
static bool may_be_unsupported(const struct truth *truth, const struct truth_row *row,
			       const struct unwind_rule *rule)
{
	bool usual = truth->is_arm64 ? is_saved(row->ra) || is_unsaid(row->ra)
				     : !strcmp(row->ra, "c-8");

	if (!usual || !is_unsaid(row->sp) || row->ra_is_unusual)
		return true;
	return is_expr(row->cfa) && exprs_allow(&truth->exprs, row->begin, rule);
}

/* Its CFA is a register that isn't the stack's: another context's memory. */
static bool is_switching(const struct truth_row *row)
{
	return !is_expr(row->cfa) && strncmp(row->cfa, "rsp", 3) &&
	       strncmp(row->cfa, "rbp", 3);
}

static bool agrees(const struct truth *truth, const struct truth_row *row, uint64_t pc,
		   const struct unwind_rule *rule, struct sums *sums)
{
	if (row->ra_is_unusual && rule->cfa != UNWIND_CFA_UNSUPPORTED)
		return false;
	sums->exprs += is_expr(row->cfa) || is_expr(row->fp) || is_expr(row->ra);
	switch (rule->cfa) {
	case UNWIND_CFA_END:
		return !strcmp(row->ra, "u");
	case UNWIND_CFA_SIGNAL:
		return row->is_signal && (is_expr(row->cfa) || truth->is_arm64);
	case UNWIND_CFA_TORN:
		return leaves_by_another(truth, row) || strncmp(row->ra, "c-", 2) ||
		       (!truth->is_arm64 && strcmp(row->ra, "c-8") && is_switching(row));
	case UNWIND_CFA_UNSUPPORTED:
		sums->unsupported++;
		return may_be_unsupported(truth, row, rule);
	case UNWIND_CFA_NONE:
		return false;
	}
	return cfa_agrees(truth, row, rule) && fp_agrees(row, pc, rule) &&
	       ra_agrees(truth, row, rule) && bx_agrees(row, rule);
}

static void tell(uint64_t pc, const struct truth_row *row, const struct unwind_rule *rule)
{
	printf("# %" PRIx64 ": readelf %s %s %s %s%s, table cfa %u%+d deref %+d "
	       "fp %u%+d ra %u%+d bx %+d reg %u\n",
	       pc, row ? row->cfa : "nothing", row ? row->fp : "", row ? row->ra : "",
	       row ? row->bx : "", row && row->is_signal ? " S" : "", rule->cfa,
	       rule->cfa_offset, rule->deref_offset, rule->fp, 8 * rule->fp_words,
	       rule->ra, 8 * rule->ra_words, 8 * rule->bx_words, rule->reg);
}

/* Of stubs: arm64's; x86-64's as its psABI has them (figure 5.2: a push of 6 bytes,
 * a jump; then each a jump of 6 bytes, a push of 5). */
static bool is_plt_rule(const struct truth *truth, uint64_t at,
			const struct unwind_rule *rule)
{
	if (truth->is_arm64)
		return rule->cfa == UNWIND_CFA_SP && rule->ra == UNWIND_RA_LR;
	if (at < 16)
		return rule->cfa == UNWIND_CFA_SP &&
		       rule->cfa_offset == (at < 6 ? 16 : 24);
	return rule->cfa == UNWIND_CFA_PLT && rule->cfa_offset == 8 && rule->reg == 11;
}

/* Of a C library's x86-64 start files: a push of 4 bytes, perhaps behind 4 others; a
 * return is the last byte. */
static bool is_init_rule(const struct truth_code *code, uint64_t pc,
			 const struct unwind_rule *rule)
{
	uint64_t at = pc - code->begin;
	bool early = at < 4 || pc == code->end - 1;

	if (rule->cfa != UNWIND_CFA_PLT || rule->reg != 16)
		return false;
	if (at >= 4 && at < 8)
		return rule->cfa_offset == 8 || rule->cfa_offset == 16;
	return rule->cfa_offset == (early ? 8 : 16);
}

/* arm64's, without a frame: tests/unit/test_leaf_arm64.c. */
static bool is_leaf_rule(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && !rule->cfa_offset &&
	       rule->ra == UNWIND_RA_LR && rule->fp == UNWIND_FP_SAME;
}

/* What may be said of code that readelf is silent about. */
static bool is_synthesized_rule(const struct truth *truth, uint64_t pc,
				const struct unwind_rule *rule)
{
	const struct truth_code *code = truth_no_cfi(truth, pc);

	if (!code || rule->fp != UNWIND_FP_SAME || rule->bx_words)
		return false;
	if (code->kind == TRUTH_PLT)
		return is_plt_rule(truth, pc - code->begin, rule);
	if (code->kind == TRUTH_ENTRY)
		return rule->cfa == UNWIND_CFA_NONE || rule->cfa == UNWIND_CFA_END;
	if (truth->is_arm64)
		return rule->cfa == UNWIND_CFA_NONE || is_leaf_rule(rule);
	/* glibc's have 9 bytes and more, musl's 3 */
	if (code->end - code->begin < 9)
		return rule->cfa == UNWIND_CFA_NONE;
	return is_init_rule(code, pc, rule);
}

/* Of code that nothing tells of: what it pushed, or that it can't be told, or that a
 * thread begins there. What is so is shown in tests/unit/test_unwind_switch.c,
 * test_x86_flow.c and test_x86_clone.c, and beside real code in tests/cfi/flow. */
static bool is_rule_by_code(const struct truth *truth, const struct unwind_rule *rule)
{
	bool is_read = rule->cfa == UNWIND_CFA_REG || rule->reg == UNWIND_BY_CODE ||
		       rule->reg == UNWIND_GUESSED || rule->bx_words == UNWIND_BX_LOST;
	/* one that was loaded behind a switch of stacks */
	bool in_register = rule->ra == UNWIND_RA_REG && !rule->cfa_offset;

	if (truth->is_arm64)
		return is_leaf_rule(rule);
	if (rule->cfa == UNWIND_CFA_CLONE)
		return rule->cfa_offset == 8 && rule->ra_words == -1;
	return rule->cfa == UNWIND_CFA_TORN ||
	       (rule->cfa == UNWIND_CFA_END && rule->reg == UNWIND_BY_CODE) ||
	       (rule->cfa <= UNWIND_CFA_REG && (rule->ra_words == -1 || in_register) &&
		rule->fp != UNWIND_FP_DEREF && is_read);
}

#define SAYING_BYTES 128 /* SILENT_BYTES of user/unwind/cfi.c */

/* It says of all of a long function what is true at its first byte: who wrote assembly
 * may have said nothing. Then its code says what that of code without any may. */
static bool may_say_nothing(const struct truth *truth, const struct truth_row *row)
{
	return !truth->is_arm64 && !strcmp(row->cfa, "rsp+8") && is_unsaid(row->fp) &&
	       is_unsaid(row->bx) && row->end - row->begin >= SAYING_BYTES;
}

static void judge(const struct truth *truth, uint64_t pc, const struct truth_row *row,
		  const struct unwind_rule *rule, struct sums *sums)
{
	bool good = row ? agrees(truth, row, pc, rule, sums)
			: rule->cfa == UNWIND_CFA_NONE || is_rule_by_code(truth, rule);

	if (!row && truth_no_cfi(truth, pc))
		good = is_synthesized_rule(truth, pc, rule);
	if (!good && row && may_say_nothing(truth, row))
		good = is_rule_by_code(truth, rule) || rule->cfa == UNWIND_CFA_NONE;
	sums->rows++;
	if (good)
		return;
	if (sums->wrong++ < TOLD_MAX)
		tell(pc, row, rule);
}

/* Each of our rows beside the one of theirs that covers its first byte. */
static void compare_ours(const struct truth *truth, const struct image *image,
			 struct sums *sums)
{
	struct image_row *ours;
	size_t n = image_rows(image, &ours), k = 0;

	for (size_t i = 0; i < n; i++) {
		const struct truth_row *row = NULL;

		while (k < truth->n && truth->rows[k].end <= ours[i].pc)
			k++;
		if (k < truth->n && truth->rows[k].begin <= ours[i].pc)
			row = &truth->rows[k];
		judge(truth, ours[i].pc, row, &ours[i].rule, sums);
	}
	free(ours);
}

/* Each of their rows, at its first and last byte, and the byte behind it. */
static void compare_theirs(const struct truth *truth, const struct image *image,
			   struct sums *sums)
{
	struct sums again = { 0 };

	for (size_t i = 0; i < truth->n; i++) {
		const struct truth_row *row = &truth->rows[i];
		bool gap = i + 1 == truth->n || row[1].begin > row->end;
		struct unwind_rule rule = image_rule(image, row->begin);

		judge(truth, row->begin, row, &rule, sums);
		rule = image_rule(image, row->end - 1);
		judge(truth, row->end - 1, row, &rule, &again);
		rule = image_rule(image, row->end);
		if (gap)
			judge(truth, row->end, NULL, &rule, &again);
	}
	sums->wrong += again.wrong;
}

static bool is_arm64(int fd)
{
	Elf64_Ehdr header = { 0 };

	return pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       header.e_machine == EM_AARCH64;
}

/* vdso: the kernel's, which is in no folder. *ret_path: how readelf finds it. */
static int open_file(const char *path, char *ret_path, size_t room)
{
	int fd = strcmp(path, "vdso") ? open(path, O_RDONLY | O_CLOEXEC) : vdso_open();

	snprintf(ret_path, room, "/proc/%d/fd/%d", getpid(), fd);
	return fd;
}

static int compare(const char *readelf, const char *name, struct sums *sums)
{
	char path[64];
	AUTO_CLOSE int fd = open_file(name, path, sizeof(path));
	AUTO(unwind_table) table = NULL;
	struct truth truth = { .is_arm64 = is_arm64(fd) };
	struct image image = { 0 };
	bool there = truth_read(&truth, readelf, path);
	int err = unwind_table_build(fd, NULL, &table);

	if (err == -ENODATA && !there)
		return 0;
	if (err) {
		printf("# %s\n", error_sentence());
		return -1;
	}
	if (!there || !image_load(&image, table))
		return -1;
	compare_theirs(&truth, &image, sums);
	compare_ours(&truth, &image, sums);
	sums->overlaps = truth.overlaps;
	if (!unwind_table_stats(table)->cfi.n_debug)
		sums->wrong += !bare_agrees(fd, &image, &truth);
	truth_free(&truth);
	image_free(&image);
	return sums->wrong ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long rows = 0, unsupported = 0;
	int failed = 0, before = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 3; i < argc; i++) {
		struct sums sums = { 0 };
		int err = compare(argv[1], argv[i], &sums);

		failed |= err;
		rows += sums.rows;
		unsupported += sums.unsupported;
		printf("%sok %d - %s: %lu comparisons, %lu wrong, %lu expressions, "
		       "%lu unsupported, %lu overlaps\n",
		       err ? "not " : "", before + i - 2, argv[i], sums.rows, sums.wrong,
		       sums.exprs, sums.unsupported, sums.overlaps);
	}
	printf("# %lu comparisons, %lu unsupported\n1..%d\n", rows, unsupported,
	       argc - 3);
	return failed ? 1 : 0;
}
