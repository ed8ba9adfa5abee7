// SPDX-License-Identifier: BSD-2-Clause
#include "show.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

#define LINES_BEFORE 6 /* of addresses that are equal */
#define LINES_BEHIND 12

static const char *const ends[] = { "thread's start", "end of the copy", "gave up" };

static const char *const endings[] = {
#define X(name, words) words,
	ENDINGS(X)
#undef X
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *file_of(Dwfl_Module *module, uint64_t addr, uint64_t *ret_offset)
{
	Dwarf_Addr start;
	const char *file =
		dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);

	*ret_offset = addr - start;
	return last_part(file);
}

static const char *name_of(Dwfl_Module *module, uint64_t addr, uint64_t *ret_offset)
{
	GElf_Sym symbol;

	return dwfl_module_addrinfo(module, addr, ret_offset, &symbol, NULL, NULL, NULL);
}

void show_place(char ret[SHOW_BYTES], struct modules *modules, uint32_t pid,
		uint64_t addr)
{
	Dwfl *dwfl = modules_of(modules, pid);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, addr) : NULL;
	const char *name = module ? name_of(module, addr, &(uint64_t){ 0 }) : NULL;

	snprintf(ret, SHOW_BYTES, "%s %s",
		 module ? file_of(module, addr, &(uint64_t){ 0 }) : "[no file]",
		 name ? name : "");
}

static void describe(char ret[SHOW_BYTES], Dwfl *dwfl, uint64_t addr, bool caller)
{
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, addr - caller) : NULL;
	uint64_t in_file = 0, in_function = 0;
	const char *file = module ? file_of(module, addr, &in_file) : NULL;
	const char *name = module ? name_of(module, addr - caller, &in_function) : NULL;

	if (name)
		snprintf(ret, SHOW_BYTES, "%012" PRIx64 " %s+%" PRIx64 " %s+%" PRIx64,
			 addr, file, in_file, name, in_function + caller);
	else
		snprintf(ret, SHOW_BYTES, "%012" PRIx64 " %s+%" PRIx64, addr,
			 file ? file : "[no file]", in_file);
}

static void show_line(FILE *out, Dwfl *dwfl, size_t i, const struct our_stack *ours,
		      const struct offline_stack *theirs)
{
	char our[SHOW_BYTES], their[SHOW_BYTES];
	bool same = i < ours->n && i < theirs->n && ours->at[i] == theirs->at[i];

	if (i < ours->n)
		describe(our, dwfl, ours->at[i], i > 0);
	if (i < theirs->n)
		describe(their, dwfl, theirs->at[i], i > 0);
	if (same)
		fprintf(out, "#   %3zu both   %s\n", i, our);
	if (!same && i < ours->n)
		fprintf(out, "#   %3zu ours   %s\n", i, our);
	if (!same && i < theirs->n)
		fprintf(out, "#   %3zu theirs %s\n", i, their);
}

void show_sample(FILE *out, enum match match, const struct sample_rec *rec,
		 const struct kernel_sample *sample, const struct our_stack *ours,
		 const struct offline_stack *theirs, struct modules *modules)
{
	size_t common = compare_common(ours, theirs), i = 0;
	size_t most = ours->n > theirs->n ? ours->n : theirs->n;
	Dwfl *dwfl = modules_of(modules, sample->pid);

	fprintf(out, "# %s: %s[%u], fell in %s mode, sp %012" PRIx64 " + %u\n",
		match_words(match), rec->comm, rec->tid,
		rec->flags & SAMPLE_IN_KERNEL ? "kernel" : "user", sample->regs[REG_SP],
		sample->stack_bytes);
	fprintf(out, "#   ours %zu, %s; %zu gaps, %zu unproven; theirs %zu, %s %s\n",
		ours->n, endings[rec->ending], ours->gaps, ours->unproven, theirs->n,
		ends[theirs->end], theirs->why);
	if (common > LINES_BEFORE) {
		i = common - LINES_BEFORE;
		fprintf(out, "#   %zu equal ones\n", i);
	}
	for (; i < most && i < common + LINES_BEHIND; i++)
		show_line(out, dwfl, i, ours, theirs);
	if (i < most)
		fprintf(out, "#   …\n");
}
