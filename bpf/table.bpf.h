/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The look-ups in what is published: mappings, rules, and the few rules that need more
 * than registers. A rule that was found is remembered.
 */
#ifndef WEFT_TABLE_BPF_H
#define WEFT_TABLE_BPF_H

#include "chunk.bpf.h"
#include "rule_cache.bpf.h"

/* What the process has mapped, unless that was given up meanwhile. NULL: of this
 * incarnation of it nothing is known. */
static __always_inline void take_mapping_table(struct scratch *s,
					       const struct known_process *pub)
{
	const union unwind_page *page;

	s->mapping_table = 0;
	s->by_vmas = 0;
	s->mapping.start = s->mapping.end = 0;
	if (!knobs.tables || !pub || !pub->mapping_table)
		return;
	page = unwind_page(pub->mapping_table);
	if (!page || (__u32)page->mapping_head.generation != pub->generation)
		return;
	s->mapping_table = pub->mapping_table;
	s->n_mappings = pub->n_mappings;
}

/* What says where the frame ends is not known yet. */
static __always_inline void set_pending(struct scratch *s)
{
	s->step_kind = STEP_KIND_PENDING;
	s->rec.flags |= SAMPLE_AWAITED;
}

int table_find_mapping(__u32 hook, __u64 addr); /* into s->mapping; 0: none holds it */
int table_find_rule(__u32 hook, __u64 addr);	/* into s->rule; 0: no row covers it */
int table_find_cfa(__u32 hook); /* of any s->rule, into s->cfa; 0: it can't be told */
int table_ask_call(__u32 hook, __u64 last); /* into s->call */

/* is_called(). verifier: a function, or each step had all ways of it */
int table_is_called(__u64 pc);

/* What a row is there for: a function's first instruction (where compilers align whole
 * functions, or anywhere), those behind it, or none. */
enum row_is { ROW_NONE, ROW_FIRST, ROW_FIRST_ALIGNED, ROW_WITHIN, ROW_BETWEEN };

#define FUNCTION_ALIGNMENT 16

/* The n-th row of the run that was searched last, in the block at that address, if it is
 * behind `begin` and not the block's first. */
int table_look_back(__u32 hook, __u32 n, __u64 begin, __u64 block);

/* Does the handler's frame say that its stack was the thread's alternate one? */
int table_on_alternate(__u32 hook);
int table_leave_handler(__u32 hook); /* to what was interrupted; an ending or STEP_OK */

/* Is what lies in s->mapping generated code, with a copy's table or without? */
static __always_inline bool is_generated(const struct scratch *s)
{
	return !s->mapping.table || s->mapping.flags & UNWIND_COPIED;
}

/* The register that lies there, or was sampled, into s->word; false: it is not known. */
static __always_inline bool read_register(struct scratch *s, __u32 hook, __u64 at,
					  __u32 reg)
{
	if (at == BX_UNKNOWN)
		return false;
	if (at != BX_IN_REGS)
		return chunk_read(hook, at);
	s->word = s->regs[reg & (USER_REGS - 1)];
	return true;
}

#endif
