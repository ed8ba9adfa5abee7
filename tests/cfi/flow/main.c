// SPDX-License-Identifier: BSD-2-Clause
/*
 * flow BEFORE PERCENT PART FILE…   x86-64 code, read as if it had no call frame
 *                                  information, beside it, PART bytes at a time
 *
 * What is told of an instruction by following its jumps must be what the file's own
 * information says, where that says anything; where they count from different registers,
 * they are not compared. In TAP, numbered behind BEFORE others.
 */
#include "../image.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/x86_insn.h"
#include "unwind/x86_flow.h"
#include "unwind/x86_stack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define CODE_MIN 512 /* bytes of a section that are worth it */
#define TOLD_MAX 5

struct sums {
	unsigned long insns, told, wrong, fps, wrong_fps;
};

static bool has_rule(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_FP ||
	       rule->cfa == UNWIND_CFA_DEREF_FP;
}

/* `holds`: the register is the caller's, since it was not written behind where it was
 * saved, or was loaded again: then either is right. */
static bool has_wrong_fp(const struct unwind_rule *ours, const struct unwind_rule *theirs,
			 bool holds)
{
	if (ours->fp == UNWIND_FP_LOST || theirs->fp == UNWIND_FP_LOST)
		return false;
	if (ours->fp == UNWIND_FP_SAME)
		return !holds;
	return theirs->fp == ours->fp && theirs->fp_words != ours->fp_words;
}

static void compare(uint64_t pc, const struct unwind_rule *ours,
		    const struct unwind_rule *theirs, bool holds, struct sums *sums)
{
	sums->told++;
	if (ours->cfa != theirs->cfa)
		return;
	if (ours->cfa_offset == theirs->cfa_offset &&
	    (ours->cfa != UNWIND_CFA_DEREF_FP || /* else UNWIND_ALONE, of ours only */
	     ours->deref_offset == theirs->deref_offset)) {
		sums->fps += ours->fp != UNWIND_FP_LOST;
		if (has_wrong_fp(ours, theirs, holds) && sums->wrong_fps++ < TOLD_MAX)
			printf("# %lx: the frame pointer %d %d, not %d %d\n", pc,
			       ours->fp, ours->fp_words, theirs->fp, theirs->fp_words);
		return;
	}
	if (sums->wrong++ < TOLD_MAX)
		printf("# %lx: %d + %d, not + %d\n", pc, ours->cfa, ours->cfa_offset,
		       theirs->cfa_offset);
}

/* The n bytes of a section from an offset on, read with what lies around. */
static int read_part(struct elf_file *file, const Elf64_Shdr *sh, uint64_t from, size_t n,
		     const struct image *image, struct sums *sums)
{
	uint64_t before = from > X86_FLOW_AROUND ? from - X86_FLOW_AROUND : 0;
	uint64_t left = sh->sh_size - from - n;
	uint64_t behind = left > X86_FLOW_AROUND ? left - X86_FLOW_AROUND : 0;
	size_t n_read = sh->sh_size - before - behind, one;
	uint64_t vaddr = sh->sh_addr + before;
	AUTO_FREE uint8_t *code = malloc(n_read);
	struct code_pages data = { .file = file, .left = SIZE_MAX };
	AUTO(x86_flow) flow = NULL;
	bool holds = false;

	if (!code || elf_file_read(file, sh->sh_offset + before, code, n_read) ||
	    x86_flow_read(&(struct x86_code){ .bytes = code,
					      .n = n_read,
					      .vaddr = vaddr,
					      .before = before,
					      .behind = behind,
					      .data = &data },
			  &flow))
		return -1;
	for (size_t at = 0; at < n_read; at += one) {
		struct unwind_rule ours, theirs = image_rule(image, vaddr + at);
		struct x86_effect is;
		bool calls, held;

		one = x86_insn_bytes(code + at, n_read - at, &calls);
		if (!one) {
			one = 1;
			continue;
		}
		held = holds || theirs.fp == UNWIND_FP_SAME;
		is = x86_effect(code + at, one);
		holds = is.drops || (is.way == X86_LOADS && is.reg == X86_FP) ||
			(held && !is.writes_fp);
		if (!has_rule(&theirs) || before + at < from || before + at >= from + n)
			continue;
		sums->insns++;
		if (x86_flow_rule(flow, at, &ours) && has_rule(&ours))
			compare(vaddr + at, &ours, &theirs, held, sums);
	}
	return 0;
}

static int read_section(struct elf_file *file, const Elf64_Shdr *sh, size_t part_bytes,
			const struct image *image, struct sums *sums)
{
	int err = 0;

	for (uint64_t at = 0, n; !err && at < sh->sh_size; at += n) {
		n = sh->sh_size - at < part_bytes ? sh->sh_size - at : part_bytes;
		err = read_part(file, sh, at, n, image, sums);
	}
	return err;
}

static int try_file(const char *path, unsigned long percent, size_t part_bytes,
		    struct sums *sums)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO(unwind_table) table = NULL;
	AUTO_ELF file = { 0 };
	struct image image = { 0 };
	int err;

	err = unwind_table_build(fd, NULL, &table) || !image_load(&image, table) ||
	      elf_file_open(&file, fd);
	for (size_t i = 0; !err && i < file.n_shdrs; i++)
		if (file.shdrs[i].sh_flags & SHF_EXECINSTR &&
		    file.shdrs[i].sh_size >= CODE_MIN)
			err = read_section(&file, &file.shdrs[i], part_bytes, &image,
					   sums);
	if (err)
		printf("# %s\n", error_sentence());
	image_free(&image);
	return err || sums->wrong || sums->wrong_fps ||
			       sums->told * 100 < sums->insns * percent
		       ? -1
		       : 0;
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0, failed = 0;
	unsigned long percent = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	size_t part_bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	if (!part_bytes)
		part_bytes = X86_FLOW_MAX - 2 * X86_FLOW_AROUND;
	for (int i = 4; i < argc; i++) {
		struct sums sums = { 0 };
		int err = try_file(argv[i], percent, part_bytes, &sums);

		failed |= err;
		printf("%sok %d - %s as if nothing told of it, %zu bytes at a time: "
		       "%lu of %lu instructions, %lu wrong; the frame pointer of %lu, "
		       "%lu wrong\n",
		       err ? "not " : "", ++number, argv[i], part_bytes, sums.told,
		       sums.insns, sums.wrong, sums.fps, sums.wrong_fps);
	}
	printf("1..%d\n", number);
	return failed ? 1 : 0;
}
