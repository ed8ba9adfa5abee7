// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Steps by unwind tables (include/shared/unwind.h), which user space made of
 * foreign files: whatever they say, each look-up is bounded, each read may
 * fail, and the walk has its budget.
 *
 * The sampled frame always goes by table. Its callers do unless their mapping
 * is known to keep frame pointers wherever it calls, which is cheaper and as
 * true. Where there is no table to be had, or no rule in it, the frame pointer is
 * followed and the caller marked UNPROVEN. Where user space has yet to say what
 * is mapped, or by which table to walk there, the walk ends: a frame pointer
 * that is none would invent callers.
 */
#include "begin.bpf.h"
#include "goroutine.bpf.h"
#include "table.bpf.h"

#define MAPPING_STEPS 12 /* UNWIND_MAPPINGS_MAX */
#define VMA_STEPS     7	 /* VMAS_MAX */
#define ROW_STEPS     10 /* UNWIND_ROWS_A_PAGE */

#define SS_AUTODISARM (1U << 31) /* <linux/signal.h>: in a handler it is nobody's */

/* Where the kernel puts registers on a stack that it delivers a signal on, from
 * the sp that the restorer runs with. */
#if defined(__TARGET_ARCH_arm64)
/* struct rt_sigframe: siginfo, then ucontext; arch/arm64/kernel/signal.c */
#define SIGNAL_STACK  (128 + 16) /* its uc_stack */
#define SIGNAL_REG(n) (128 + 176 + 8 + 8 * (n))
#define SIGNAL_FP     SIGNAL_REG(29)
#define SIGNAL_LR     SIGNAL_REG(30)
#define SIGNAL_SP     SIGNAL_REG(31)
#define SIGNAL_PC     SIGNAL_REG(32)
#define REG_BX	      USER_REGS /* none is followed */
#else
#define SIGNAL_STACK  16 /* struct ucontext: its uc_stack */
/* and its mcontext's r8 to r15, di, si, bp, bx, dx, ax, cx, sp, ip; a
 * digit for each of DWARF's numbers, 15 to 0, says its place there */
#define SIGNAL_REG(n) (40 + 8 * (0x76543210fa89becdULL >> 4 * (n)&15))
#define SIGNAL_FP     SIGNAL_REG(6)
#define SIGNAL_SP     SIGNAL_REG(7)
#define SIGNAL_PC     168
#define REG_BX	      3
#endif

/* Of what ends at `end`, or begins there: behind the middle, or not behind it. Neither
 * has a sign. verifier: it follows what is in registers, so that a search in them, or one
 * with a branch, had two ways to go at each step; what is in a map value it does not
 * know. */
static __always_inline void bsearch_step(struct scratch *s, __u32 mid, __u64 end,
					 __u64 at)
{
	__s64 before = at - end;

	KEEP(before); /* or clang makes branches of it */
	before >>= 63;
	KEEP(before);
	s->low += (mid + 1 - s->low) & ~before;
	s->high += (mid - s->high) & before;
	REREAD();
}

/* The published mapping that holds addr into s->mapping; 0: none does. */
static __always_inline int find_published(struct scratch *s, __u64 addr)
{
	const union unwind_page *page;
	__u32 n;

	if (!s->mapping_table)
		return 0;
	/* the first one that ends above addr */
	s->low = 1;
	s->high = s->n_mappings + 1;
	for (int i = 0; i < MAPPING_STEPS; i++) {
		if (s->low >= s->high)
			break;
		n = (s->low + s->high) / 2;
		page = unwind_page(s->mapping_table + n / UNWIND_MAPPINGS_A_PAGE);
		if (!page)
			return 0;
		bsearch_step(s, n, page->mappings[n & (UNWIND_MAPPINGS_A_PAGE - 1)].end,
			     addr);
	}
	n = s->low;
	if (n > s->n_mappings)
		return 0;
	page = unwind_page(s->mapping_table + n / UNWIND_MAPPINGS_A_PAGE);
	if (!page)
		return 0;
	s->mapping = page->mappings[n & (UNWIND_MAPPINGS_A_PAGE - 1)];
	return s->mapping.start <= addr && addr < s->mapping.end;
}

/* The same of what the kernel says. */
static __always_inline int find_vma(struct scratch *s, __u32 hook, __u64 addr)
{
	const struct vma_list *list = vma_list(hook);
	__u32 n;

	if (!list)
		return 0;
	s->low = 0;
	s->high = list->n;
	for (int i = 0; i < VMA_STEPS; i++) {
		if (s->low >= s->high)
			break;
		n = (s->low + s->high) / 2;
		bsearch_step(s, n, list->of[n & (VMAS_MAX - 1)].end, addr);
	}
	if (s->low >= list->n)
		return 0;
	s->mapping = list->of[s->low & (VMAS_MAX - 1)];
	return s->mapping.start <= addr && addr < s->mapping.end;
}

__noinline int table_find_mapping(__u32 hook, __u64 addr)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	return s->by_vmas ? find_vma(s, hook, addr) : find_published(s, addr);
}

/* The last row of a run that begins at or before `offset`: its rule. */
static __always_inline __u32 search_run(struct scratch *s, const union unwind_page *page,
					struct unwind_block *run, __u32 offset)
{
	__u32 n;

	/* the first row behind it */
	s->low = 1;
	s->high = run->count;
	for (int i = 0; i < ROW_STEPS; i++) {
		if (s->low >= s->high)
			break;
		n = (s->low + s->high) / 2;
		bsearch_step(
			s, n,
			page->rows[(run->first + n) & (UNWIND_ROWS_A_PAGE - 1)].offset,
			offset);
	}
	return page->rows[(run->first + s->low - 1) & (UNWIND_ROWS_A_PAGE - 1)].rule;
}

/* The n-th row of the run at hand: what it is, and where it begins. */
static __always_inline enum row_is look_at_row(struct scratch *s, __u32 n,
					       __u32 *ret_offset)
{
	const union unwind_page *page = unwind_page(s->rows_page);
	const struct unwind_rule *rule;
	struct unwind_row row;

	if (!page || n >= s->high)
		return ROW_NONE;
	row = page->rows[(s->first_row + n) & (UNWIND_ROWS_A_PAGE - 1)];
	page = unwind_page(s->rules_page + row.rule / UNWIND_RULES_A_PAGE);
	if (!page)
		return ROW_NONE;
	rule = &page->rules[row.rule & (UNWIND_RULES_A_PAGE - 1)];
	*ret_offset = row.offset;
	if (rule->cfa == UNWIND_CFA_NONE)
		return ROW_BETWEEN;
	return rule->cfa == UNWIND_CFA_SP && rule->reg == UNWIND_FIRST ? ROW_FIRST
								       : ROW_WITHIN;
}

/* The code before that address into *ret, and what follows as far as it can be read. */
static __always_inline bool read_around(struct code_around *ret, __u64 addr)
{
	*ret = (struct code_around){ 0 };
	return read_user(ret, sizeof(*ret), addr - CODE_BEFORE) ||
	       read_user(&ret->before, CODE_BEFORE, addr - CODE_BEFORE);
}

/* Did a call lead to what returns behind `last`? What is not readable did, unless
 * another function begins there. verifier: a function, or each step of the search before
 * it had all its ways. */
__noinline int table_ask_call(__u32 hook, __u64 last)
{
	struct scratch *s = scratch(hook);
	struct code_around code;
	__u32 offset = 0;

	if (!s)
		return 0;
	s->call = CALL_BEFORE;
	if (!(s->mapping.flags & UNWIND_CALLS))
		return 0;
	if (look_at_row(s, s->low, &offset) == ROW_FIRST && offset == s->in_block + 1)
		s->call = CALL_OF_OTHERS;
	if (!read_around(&code, last + 1))
		return 0;
	if (!call_ends(code.before))
		s->call = CALL_NONE;
	else if (begins_thread(&code))
		s->rule.cfa = UNWIND_CFA_END;
	return 0;
}

__noinline int table_is_called(__u64 pc)
{
	return is_called(pc);
}

/* verifier: a function, since a loop calls it */
__noinline int table_look_back(__u32 hook, __u32 n, __u64 begin, __u64 block)
{
	struct scratch *s = scratch(hook);
	__u32 offset = 0;
	enum row_is row;

	if (!s)
		return ROW_NONE;
	row = look_at_row(s, n, &offset);
	if (row == ROW_FIRST && !(offset & (FUNCTION_ALIGNMENT - 1)))
		row = ROW_FIRST_ALIGNED;
	/* at the beginning of a block it may go on from the one before */
	return offset && block + offset > begin ? row : ROW_NONE;
}

#define PAGE_WORDS (UNWIND_PAGE_BYTES / 8)

/* Is the n-th word of the code from `begin` on what was copied to these pages? */
static __always_inline bool is_as_copied(__u32 pages, __u64 begin, __u32 n)
{
	const union unwind_page *page = unwind_page(pages + n / PAGE_WORDS);
	__u64 now;

	return page && read_user(&now, sizeof(now), begin + 8ULL * n) &&
	       now == page->words[n & (PAGE_WORDS - 1)];
}

/* Of a copy of generated code, of which a rule was found: is the code still what was
 * copied, around that address, and where the stack came to be as the rule says? If not,
 * nobody can tell where that is by now. And, of a caller, was it called from there? */
__noinline int table_ask_copy(__u32 hook, __u64 addr)
{
	struct scratch *s = scratch(hook);
	const union unwind_page *page;
	struct code_around code;
	__u32 row, first, pages, here;
	__u64 begin;

	if (!s)
		return 0;
	page = unwind_page(s->mapping.table);
	if (!page || !page->head.code_page)
		return 0;
	begin = page->head.text & -(__u64)UNWIND_PAGE_BYTES;
	pages = s->mapping.table + page->head.code_page;
	row = s->first_row + s->low - 1;
	page = unwind_page(s->mapping.table + page->head.firsts_page +
			   row / UNWIND_ROWS_A_PAGE);
	if (!page)
		return 0;
	first = page->firsts[row & (UNWIND_ROWS_A_PAGE - 1)];
	here = (addr - begin) / 8;
	first = first ? (first - 1) / 8 : 0; /* of the instruction before it */
	if (!is_as_copied(pages, begin, here) || !is_as_copied(pages, begin, here + 1) ||
	    !is_as_copied(pages, begin, first) ||
	    !is_as_copied(pages, begin, first ? first - 1 : 0)) {
		s->rule.cfa = UNWIND_CFA_TORN;
		return 1;
	}
	return s->is_leaf || (read_around(&code, s->pc) && call_ends(code.before));
}

/* The rule for an address of s->mapping into s->rule; 0: no row covers it. */
__noinline int table_find_rule(__u32 hook, __u64 addr)
{
	struct scratch *s = scratch(hook);
	const union unwind_page *page;
	struct unwind_block block;
	__u32 table, rows, n;
	__u64 at;

	if (!s)
		return 0;
	table = s->mapping.table;
	page = unwind_page(table);
	if (!page)
		return 0;
	at = addr - s->mapping.bias - page->head.text;
	if (at / UNWIND_BLOCK_BYTES >= page->head.n_blocks)
		return 0;
	n = at / UNWIND_BLOCK_BYTES;
	s->rules_page = table + page->head.rules_page;
	rows = table + page->head.rows_page;
	page = unwind_page(table + page->head.blocks_page + n / UNWIND_BLOCKS_A_PAGE);
	if (!page)
		return 0;
	block = page->blocks[n & (UNWIND_BLOCKS_A_PAGE - 1)];
	if (!block.count)
		return 0;
	s->rows_page = rows + block.first / UNWIND_ROWS_A_PAGE;
	s->first_row = block.first;
	s->in_block = at & (UNWIND_BLOCK_BYTES - 1);
	page = unwind_page(s->rows_page);
	if (!page)
		return 0;
	n = search_run(s, page, &block, s->in_block);
	s->high = block.count;
	page = unwind_page(s->rules_page + n / UNWIND_RULES_A_PAGE);
	if (!page)
		return 0;
	s->rule = page->rules[n & (UNWIND_RULES_A_PAGE - 1)];
	if (s->rule.cfa == UNWIND_CFA_NONE)
		return 0;
	if (s->mapping.flags & UNWIND_COPIED)
		return table_ask_copy(hook, addr);
	if (s->is_leaf)
		s->call = CALL_NOT_ASKED;
	else
		table_ask_call(hook, addr);
	rule_cache_put(s, s->rules_page + n / UNWIND_RULES_A_PAGE,
		       n & (UNWIND_RULES_A_PAGE - 1));
	return 1;
}

/* Behind a handler's frame; its memory begins where the handler's ends, so it
 * must not end there too. */
static __always_inline __u64 end_of_handler(struct scratch *s)
{
	return s->sp + SIGNAL_PC + 8;
}

/*
 * Without sp: who saved the caller's frame pointer has one of its own, to where it
 * did. Whoever did not still has that of some function further up.
 */
static __always_inline int find_cfa_by_record(struct scratch *s)
{
	if (s->rule.fp != UNWIND_FP_CFA) {
		s->step_kind = STEP_KIND_OLDER_FP;
		return 0;
	}
	s->cfa = s->fp - 8 * (__s64)s->rule.fp_words;
	return 1;
}

static __always_inline bool counts_from_sp(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_DEREF_SP ||
	       rule->cfa == UNWIND_CFA_DEREF_TWICE || rule->cfa == UNWIND_CFA_SIZED;
}

/* The register that s->rule names into s->word; 0: it is not known any more. */
static __always_inline int find_register(struct scratch *s, __u32 hook)
{
	__u64 at = s->bx_at;
	__u32 reg = s->rule.reg & ~UNWIND_KEPT;

	if (reg >= USER_REGS)
		return 0;
	if (s->is_leaf || (s->rule.reg & UNWIND_KEPT && s->from_leaf) ||
	    s->left_alone >> reg & 1)
		at = s->regs_at ? s->regs_at + SIGNAL_REG(reg) : BX_IN_REGS;
	else if (reg != REG_BX)
		return 0;
	return read_register(s, hook, at, reg);
}

/* Where that is not known, a frame pointer that the frame has left alone is one of some
 * function further up. */
static __always_inline int lack_register(struct scratch *s)
{
	if (s->rule.fp == UNWIND_FP_SAME)
		s->step_kind = STEP_KIND_OLDER_FP;
	return 0;
}

/* Is it who made the system call that a new thread comes back from, too? That one's walk
 * is at its end. */
static __always_inline int comes_back(struct scratch *s, __u32 hook)
{
	if (!s->is_leaf || !find_register(s, hook))
		return 0;
	if (!(s->word & knobs.addr_mask))
		s->rule.cfa = UNWIND_CFA_END;
	return s->rule.cfa == UNWIND_CFA_CLONE;
}

__noinline int table_find_cfa(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 offset;

	if (!s)
		return 0;
	offset = (__s64)s->rule.cfa_offset;
	if (!FP_GIVES_SP && s->sp_is_least && counts_from_sp(&s->rule))
		return find_cfa_by_record(s);
	switch (s->rule.cfa) {
	case UNWIND_CFA_SP:
		s->cfa = s->sp + offset;
		return 1;
	case UNWIND_CFA_FP:
		s->cfa = s->fp + offset;
		return 1;
	case UNWIND_CFA_DEREF_SP:
	case UNWIND_CFA_DEREF_FP:
	case UNWIND_CFA_DEREF_TWICE:
	case UNWIND_CFA_SIZED:
		if (!chunk_read(hook,
				(s->rule.cfa == UNWIND_CFA_DEREF_FP ? s->fp : s->sp) +
					(__s64)s->rule.deref_offset))
			return 0;
		if (s->rule.cfa == UNWIND_CFA_DEREF_TWICE &&
		    !chunk_read(hook, s->word & knobs.addr_mask))
			return 0;
		s->cfa = (s->word & knobs.addr_mask) + offset;
		if (s->rule.cfa == UNWIND_CFA_SIZED)
			s->cfa += s->sp;
		return 1;
	case UNWIND_CFA_REG:
		if (!find_register(s, hook))
			return lack_register(s);
		s->cfa = (s->word & knobs.addr_mask) + offset;
		return 1;
	case UNWIND_CFA_INDEXED:
		if (!find_register(s, hook) ||
		    !chunk_read(hook, s->sp + 8 * (s->word & knobs.addr_mask) +
					      (__s64)s->rule.deref_offset))
			return 0;
		s->cfa = (s->word & knobs.addr_mask) + offset;
		return 1;
	case UNWIND_CFA_GO:
	case UNWIND_CFA_GO_C:
		if (goroutine_find(hook))
			return 1;
		s->rule.cfa = UNWIND_CFA_TORN;
		return 0;
	case UNWIND_CFA_SIGNAL:
		s->cfa = end_of_handler(s);
		return 1;
	case UNWIND_CFA_CLONE:
		s->cfa = s->sp + offset;
		return comes_back(s, hook);
	case UNWIND_CFA_PLT:
		s->cfa = s->sp + offset + ((s->pc & 15) >= s->rule.reg ? 8 : 0);
		return 1;
	default:
		return 0;
	}
}

__noinline int table_on_alternate(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 stack, flags;

	if (!s || !chunk_read(hook, s->sp + SIGNAL_STACK))
		return 0;
	stack = s->word;
	if (!chunk_read(hook, s->sp + SIGNAL_STACK + 8))
		return 0;
	flags = s->word;
	return chunk_read(hook, s->sp + SIGNAL_STACK + 16) && !(flags & SS_AUTODISARM) &&
	       s->sp - stack < s->word;
}

__noinline int table_leave_handler(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 sp;

	if (!s)
		return END_BROKEN;
	sp = s->sp;
#ifdef SIGNAL_LR
	if (!chunk_read(hook, sp + SIGNAL_LR))
		return END_UNREADABLE;
	s->lr = s->word & knobs.addr_mask;
#endif
	if (!chunk_read(hook, sp + SIGNAL_FP))
		return END_UNREADABLE;
	s->fp = FP_OF(s->word);
	if (!chunk_read(hook, sp + SIGNAL_SP))
		return END_UNREADABLE;
	s->sp = s->word & knobs.addr_mask;
	if (!chunk_read(hook, sp + SIGNAL_PC))
		return END_UNREADABLE;
	if (s->word & knobs.addr_mask & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	s->pc = s->word & knobs.addr_mask;
	if (s->sp - sp >= SAME_STACK_BYTES) /* the handler has a stack of its own */
		s->begun_sp = s->sp;
	s->step_bytes = 0;
	s->is_leaf = 1;
	if (!FP_GIVES_SP)
		s->sp_is_least = 0;
	s->regs_at = sp;
	s->bx_at = sp + SIGNAL_REG(REG_BX);
	return STEP_OK;
}
