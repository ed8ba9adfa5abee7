// SPDX-License-Identifier: BSD-2-Clause
#include "obj/unwind_plt.h"

#include "base/error.h"
#include "obj/elf_plt.h"

#define FIRST_BYTES 32	       /* of the entry that resolves a name, where there is one */
#define PUSH	    0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */
#define WORD	    4

void unwind_plt_open(struct unwind_plt *plt, struct elf_file *file,
		     const struct cfi_sink *sink)
{
	uint32_t words[2]; /* the push may follow a bti */
	uint64_t offset, bytes;

	*plt = (struct unwind_plt){ .sink = sink, .told = true };
	if (file->header.e_machine != EM_AARCH64 ||
	    !elf_plt_find(file, &plt->begin, &plt->end) ||
	    plt->end - plt->begin < FIRST_BYTES ||
	    !elf_file_offset(file, plt->begin, &offset, &bytes))
		return;
	if (elf_file_read(file, offset, words, sizeof(words))) {
		error_clear(); /* then its stubs stay unknown */
		return;
	}
	plt->told = false;
	plt->push_begin = plt->push_end = plt->begin;
	for (int i = 0; i < 2; i++) {
		if (words[i] != PUSH)
			continue;
		plt->push_begin += (uint64_t)(i + 1) * WORD;
		plt->push_end += FIRST_BYTES;
		break;
	}
}

static int tell(struct unwind_plt *plt)
{
	static const struct unwind_rule none;
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_LR };
	const struct cfi_sink *sink = plt->sink;
	int err = sink->row(sink->arg, plt->begin, &rule);

	if (!err && plt->push_end > plt->begin) {
		rule.cfa_offset = 16;
		err = sink->row(sink->arg, plt->push_begin, &rule);
		rule.cfa_offset = 0;
		if (!err && plt->push_end < plt->end)
			err = sink->row(sink->arg, plt->push_end, &rule);
	}
	return err ? err : sink->row(sink->arg, plt->end, &none);
}

/* No row before this one says anything of it. */
static bool is_untold(const struct unwind_plt *plt, uint64_t pc)
{
	return !plt->told && pc >= plt->end && !plt->covered &&
	       (!plt->any || plt->pc <= plt->begin);
}

int unwind_plt_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_plt *plt = arg;
	int err = is_untold(plt, pc) ? tell(plt) : 0;

	plt->told |= pc >= plt->end;
	plt->covered = rule->cfa != UNWIND_CFA_NONE;
	plt->pc = pc;
	plt->any = true;
	return err ? err : plt->sink->row(plt->sink->arg, pc, rule);
}

int unwind_plt_end(struct unwind_plt *plt)
{
	return plt->any && is_untold(plt, plt->end) ? tell(plt) : 0;
}
