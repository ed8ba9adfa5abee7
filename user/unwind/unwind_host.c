// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_host.h"

#include "base/error.h"
#include "obj/elf_hash.h"
#include "unwind/unwind_beam.h"
#include "unwind/x86_stack.h"

#define TCG_FRAME                                                                        \
	{                                                                                \
		.cfa = UNWIND_CFA_SP, .cfa_offset = 1216, .bx_words = -3,                \
		.fp = UNWIND_FP_CFA, .fp_words = -2, .ra_words = -1                      \
	}

/* By a function that its file exports, and what its generated code has below who called
 * it. Registers that may have been anything are lost; who entered it has them. */
static const struct host {
	const char *exports;
	size_t length;
	struct unwind_rule hosted; /* no rule: that of the function itself */
} hosts[] = {
	/* PHP 8's JIT, which goes on on the frame of its interpreter. */
	{ "execute_ex", 10, { 0 } },
	/* Ruby's YJIT, whose entries push r13, r12 and rbx (gen_entry_prologue() in
	 * yjit/src/codegen.rs). */
	{ "ruby_run_node",
	  13,
	  { .cfa = UNWIND_CFA_SP, .cfa_offset = 32, .bx_words = -4, .ra_words = -1 } },
	/* Guile 3, whose one entry pushes three registers (emit_entry_trampoline() in
	 * libguile/jit.c). */
	{ "scm_call_n",
	  10,
	  { .cfa = UNWIND_CFA_SP,
	    .cfa_offset = 32,
	    .bx_words = UNWIND_BX_LOST,
	    .ra_words = -1 } },
	/* Chez Scheme, and Racket that is built on it; its rbp is a register like any. */
	{ "S_generic_invoke",
	  16,
	  { .cfa = UNWIND_CFA_SP,
	    .cfa_offset = 16,
	    .bx_words = UNWIND_BX_LOST,
	    .fp = UNWIND_FP_LOST,
	    .ra_words = -1 } },
	/* PyPy, whose code makes a frame of 184 bytes where it is entered, and keeps rbp
	 * and rbx in it (_call_header() in rpython/jit/backend/x86/assembler.py). */
	{ "pypy_main_startup",
	  17,
	  { .cfa = UNWIND_CFA_SP,
	    .cfa_offset = 192,
	    .bx_words = -11,
	    .fp = UNWIND_FP_CFA,
	    .fp_words = -12,
	    .ra_words = -1,
	    .reg = UNWIND_NESTS } },
	/* QEMU, and Unicorn, which is one: rbp, rbx, r12 to r15, and FRAME_SIZE
	 * (tcg/i386). */
	{ "qemu_plugin_bool_parse", 22, TCG_FRAME },
	{ "cpu_exec_aarch64", 16, TCG_FRAME },
	/* Erlang's runtime, whose code has stacks of its own. */
	{ "enif_alloc", 10, { .cfa = UNWIND_CFA_REG, .reg = X86_BX } },
};

#define N_HOSTS (sizeof(hosts) / sizeof(*hosts))

struct found {
	const struct host *host;
	uint64_t begin, end; /* of the function */
};

static void take_symbol(void *arg, int what, const Elf64_Sym *sym)
{
	struct found *found = arg;

	if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC)
		*found = (struct found){ &hosts[what], sym->st_value,
					 sym->st_value + sym->st_size };
}

static void find_function(struct elf_file *file, struct found *ret)
{
	struct elf_query queries[N_HOSTS];
	const struct elf_search search = { queries, N_HOSTS, take_symbol, ret };
	struct elf_dynamic dynamic;

	for (size_t i = 0; i < N_HOSTS; i++)
		queries[i] =
			(struct elf_query){ hosts[i].exports, hosts[i].length, (int)i };
	if (elf_table_dynamic(file, &dynamic))
		error_clear(); /* what can't be read exports nothing */
	else
		elf_hash_find(file, &dynamic.table, &search);
}

static bool is_frame(const struct unwind_rule *rule)
{
	return (rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_FP) &&
	       rule->ra == UNWIND_RA_CFA && rule->reg != UNWIND_LEADS;
}

/* The rule of most of a function's bytes: that of its body, where it is at work. */
static bool find_body(const struct found *function, unwind_spans next, void *arg,
		      struct unwind_rule *ret)
{
	uint64_t most = 0;
	struct unwind_span span;

	while (next(arg, &span)) {
		uint64_t bytes = span.end - span.begin;

		if (span.begin < function->begin || span.end > function->end ||
		    !is_frame(span.rule) || bytes <= most)
			continue;
		most = bytes;
		*ret = *span.rule;
	}
	return most > 0;
}

bool unwind_host_find(struct elf_file *file, unwind_spans next, void *arg,
		      struct unwind_rule *ret)
{
	struct found found = { NULL };

	if (file->header.e_machine == EM_X86_64)
		find_function(file, &found);
	if (!found.host)
		return false;
	*ret = found.host->hosted;
	if (ret->cfa == UNWIND_CFA_REG)
		return unwind_beam_find(file, ret);
	return ret->cfa != UNWIND_CFA_NONE || find_body(&found, next, arg, ret);
}

bool unwind_host_enters(const struct unwind_rules *rules, struct unwind_rule *ret)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct unwind_rule *rule = &rules->items[i];

		if (rule->cfa != UNWIND_CFA_SP || rule->reg != UNWIND_ENTERS)
			continue;
		*ret = *rule;
		ret->reg = 0;
		return true;
	}
	return false;
}
