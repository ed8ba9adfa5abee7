// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel's own frames, by ORC: two sorted tables in the kernel's memory say for each
 * address of its code where the caller is. The kernel's helper searches them anew for
 * each frame of each sample, some 2 us a frame at 99 Hz; here a rule that was found is
 * remembered, in a word beside its address.
 *
 * Whatever is not plain the helper tells: code of modules and of BPF programs, registers
 * other than sp and fp, return addresses that a tracer wrote over, a stack that is left
 * for another one but the task's own. At some samples it is asked although all was plain,
 * and once it has told another stack, nothing is walked here any more.
 */
#include "chunk.bpf.h"
#include "compat.bpf.h"
#include "orc.bpf.h"
#include "words.bpf.h"

struct orc_tables orc_tables;

#if defined(__TARGET_ARCH_x86)

/* arch/x86/include/asm/orc_types.h, in each of its formats */
#define ORC_REG_UNDEFINED 0
#define ORC_TYPE_END	  1
#define ORC_TYPE_CALL	  2
#define ORC_TYPE_REGS	  3

static const struct orc_format formats[] = {
	/* 6.5 and later */
	{ .hash = { 0xbf325dfe, 0x3bd61b58, 0xc6a5a92c, 0x25a6a55b, 0x24feb3ea },
	  .sp = 5,
	  .fp = 4,
	  .end = 1,
	  .at_sp = 9,
	  .at_fp = 8 },
	/* 7.x */
	{ .hash = { 0xad367c13, 0xddc42776, 0x76219355, 0xbdcd0ebb, 0x82fc4150 },
	  .sp = 3,
	  .fp = 4,
	  .end = 8,
	  .at_sp = 9,
	  .at_fp = 10 },
};

#define ORC_SEARCH_STEPS 4 /* a call of orc_search() */
#define ORC_SEARCH_CALLS 6 /* of some half a million entries */
#define ORC_CHUNK_BYTES	 1024
#define ORC_STEPS	 9  /* frames a call of orc_advance() */
#define ORC_CHECK_STEPS	 16 /* frames a call of orc_check_some() */

/* The first samples of a CPU are checked, then one of so many. */
#define ORC_FIRST_CHECKS 16
#define ORC_CHECKED_OF	 256

#define ORC_SPREAD 0x9e3779b1U /* 2^32 by the golden ratio */

/*
 * A rule in a word, from the lowest bit: the frame's end in words from where it is
 * counted, 11; how many words below it the caller's fp lies, 6, 0: fp is still the
 * caller's; from where it is counted, 2; the type, 3; was the frame interrupted, 1; and
 * that it is one.
 */
enum counted_from { FROM_SP, FROM_FP, FROM_WORD_AT_SP, FROM_WORD_AT_FP };

#define RULE_END_MASK	 0x7ff
#define RULE_FP_SHIFT	 11
#define RULE_FP_MASK	 0x3f
#define RULE_FROM_SHIFT	 17
#define RULE_TYPE_SHIFT	 19
#define RULE_INTERRUPTED (1U << 22)
#define RULE_IS_ONE	 (1U << 23)

struct orc_entry_bits {
	__s16 sp_offset, bp_offset;
	__u16 bits; /* sp_reg, 4; bp_reg, 4; type, 3; signal, 1 */
};

/* From where a frame's end is counted by that register; N_FROM: not plain. */
#define N_FROM 4

static __always_inline __u32 counted_from(__u32 reg)
{
	if (reg == orc_tables.format.sp)
		return FROM_SP;
	if (reg == orc_tables.format.fp)
		return FROM_FP;
	if (reg == orc_tables.format.at_sp)
		return FROM_WORD_AT_SP;
	return reg == orc_tables.format.at_fp ? FROM_WORD_AT_FP : N_FROM;
}

/* 0: it is not plain. */
static __always_inline __u32 rule_of(const struct orc_entry_bits *entry)
{
	__u32 reg = entry->bits & 15, fp_reg = entry->bits >> 4 & 15;
	__u32 type = entry->bits >> 8 & 7, from = FROM_SP;
	__s32 end = entry->sp_offset, fp_below = -entry->bp_offset;

	if (type != ORC_TYPE_END)
		from = counted_from(reg);
	if (fp_reg == ORC_REG_UNDEFINED)
		fp_below = 0;
	else if (fp_reg != orc_tables.format.end || fp_below <= 0)
		return 0;
	if (from == N_FROM || (end | fp_below) & 7 || end < 0 ||
	    end / 8 > RULE_END_MASK || fp_below / 8 > RULE_FP_MASK)
		return 0;
	return end / 8 | (__u32)fp_below / 8 << RULE_FP_SHIFT | from << RULE_FROM_SHIFT |
	       type << RULE_TYPE_SHIFT | (entry->bits >> 11 & 1 ? RULE_INTERRUPTED : 0) |
	       RULE_IS_ONE;
}

/* Some steps of the search for the first entry behind that address, into s->low; 0: it
 * is over. verifier: a function, since a loop calls it */
__noinline int orc_search(__u32 hook, __u64 address)
{
	struct scratch *s = scratch(hook);
	__u64 place;
	__s32 from_there;
	__u32 n;

	if (!knobs.orc || !s)
		return 0;
	for (int i = 0; i < ORC_SEARCH_STEPS; i++) {
		if (s->low >= s->high)
			return 0;
		n = (s->low + s->high) / 2;
		place = orc_tables.addresses + sizeof(from_there) * n;
		if (!read_kernel(&from_there, sizeof(from_there), place)) {
			s->low = 0;
			return 0;
		}
		if (place + from_there <= address)
			s->low = n + 1;
		else
			s->high = n;
	}
	return 1;
}

/* The rule of the code at that offset; 0: none that is plain. verifier: a function, or
 * each step of a walk had all ways of the search */
__noinline int orc_find_rule(__u32 hook, __u32 offset)
{
	struct scratch *s = scratch(hook);
	struct orc_entry_bits entry;
	__u32 n;

	if (!knobs.orc || !s)
		return 0;
	s->low = 0;
	s->high = orc_tables.n;
	for (int i = 0; i < ORC_SEARCH_CALLS; i++)
		if (!orc_search(hook, orc_tables.text + offset))
			break;
	n = s->low;
	if (!n || !read_kernel(&entry, sizeof(entry),
			       orc_tables.entries + sizeof(entry) * (n - 1)))
		return 0;
	return rule_of(&entry);
}

/* The rule of the frame at hand, as above. */
static __always_inline __u32 rule_at_hand(struct scratch *s, struct orc_cache *cache,
					  __u32 hook)
{
	__u64 offset = s->pc - !s->is_leaf - orc_tables.text;
	struct orc_slot *slot;

	if (offset >= orc_tables.text_bytes || s->pc == orc_tables.traced_return ||
	    s->pc == orc_tables.probed_return)
		return 0;
	slot = &cache->slots[(__u32)offset * ORC_SPREAD >> (32 - ORC_CACHE_BITS)];
	if (slot->offset != (__u32)offset || !slot->rule) {
		slot->rule = orc_find_rule(hook, offset);
		slot->offset = offset;
		if (knobs.faults & FAULT_ORC_RULE) /* a call's: there is no caller */
			slot->rule ^= (ORC_TYPE_CALL ^ ORC_TYPE_END) << RULE_TYPE_SHIFT;
	}
	return slot->rule;
}

/* A word of the kernel's stack into s->word. */
static __always_inline bool kernel_word(struct scratch *s, __u64 addr)
{
	__u64 offset = in_chunk(s, addr, 8), left_in_page = 4096 - (addr & 4095);

	if (addr & 7)
		return false;
	if (offset > CHUNK_BYTES - 8) {
		s->chunk_base = addr;
		s->chunk_bytes =
			left_in_page < ORC_CHUNK_BYTES ? left_in_page : ORC_CHUNK_BYTES;
		if (!read_kernel(s->chunk, s->chunk_bytes & (2 * ORC_CHUNK_BYTES - 1),
				 addr))
			return false;
		offset = 0;
	}
	s->word = *(__u64 *)(s->chunk + offset);
	return true;
}

/* May the stack go on there: further up the one at hand, or on the task's own? */
static __always_inline bool may_go_on_at(const struct scratch *s, __u64 sp)
{
	__u64 own;

	if (sp & 7)
		return false;
	if (sp > s->sp && sp - s->sp < knobs.kernel_stack_bytes)
		return true;
	own = (__u64)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack);
	return sp - own < knobs.kernel_stack_bytes;
}

enum orc_steps { ORC_UNKNOWN, ORC_CALLER, ORC_END };

/* To what was interrupted, whose registers lie where the frame ends. */
static __always_inline enum orc_steps step_to_interrupted(struct scratch *s)
{
	struct pt_regs *regs = (void *)s->chunk;

	s->chunk_bytes = 0;
	if (!read_kernel(regs, sizeof(*regs), s->cfa))
		return ORC_UNKNOWN;
	if (regs_mode(regs) != REGS_KERNEL)
		return ORC_END;
	if (!may_go_on_at(s, regs->sp))
		return ORC_UNKNOWN;
	s->pc = regs->ip;
	s->sp = regs->sp;
	s->fp = regs->bp;
	return ORC_CALLER;
}

static __always_inline enum orc_steps step_to_caller(struct scratch *s, __u32 fp_below)
{
	if (!may_go_on_at(s, s->cfa))
		return ORC_UNKNOWN;
	if (fp_below) {
		if (!kernel_word(s, s->cfa - 8 * fp_below))
			return ORC_UNKNOWN;
		s->fp = s->word;
	}
	if (!kernel_word(s, s->cfa - 8))
		return ORC_UNKNOWN;
	s->pc = s->word;
	s->sp = s->cfa;
	return ORC_CALLER;
}

/* Where the frame at hand ends, into s->cfa. */
static __always_inline bool find_end(struct scratch *s, __u32 from, __u32 distance)
{
	switch (from) {
	case FROM_SP:
		s->cfa = s->sp + distance;
		return true;
	case FROM_FP:
		s->cfa = s->fp + distance;
		return true;
	case FROM_WORD_AT_SP:
		if (!kernel_word(s, s->sp))
			return false;
		s->cfa = s->word + distance;
		return true;
	default: /* FROM_WORD_AT_FP, and behind the distance */
		if (!kernel_word(s, s->fp + distance))
			return false;
		s->cfa = s->word;
		return true;
	}
}

static __always_inline enum orc_steps step_by_rule(struct scratch *s, __u32 rule)
{
	__u32 type = rule >> RULE_TYPE_SHIFT & 7;

	if (!rule)
		return ORC_UNKNOWN;
	if (type == ORC_TYPE_END)
		return ORC_END;
	if (!find_end(s, rule >> RULE_FROM_SHIFT & 3, (rule & RULE_END_MASK) * 8))
		return ORC_UNKNOWN;
	s->is_leaf = !!(rule & RULE_INTERRUPTED);
	if (type == ORC_TYPE_CALL)
		return step_to_caller(s, rule >> RULE_FP_SHIFT & RULE_FP_MASK);
	return type == ORC_TYPE_REGS ? step_to_interrupted(s) : ORC_UNKNOWN;
}

/* Tells of the frame at hand, and goes a frame on; enum orc_steps. verifier: a function,
 * or the loop had all ways each time */
__noinline int orc_step(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct orc_cache *cache;

	if (!knobs.orc || !s)
		return ORC_UNKNOWN;
	cache = bpf_map_lookup_elem(&orc_caches, &hook);
	if (!cache)
		return ORC_UNKNOWN;
	emit_word(s, s->pc);
	return step_by_rule(s, rule_at_hand(s, cache, hook));
}

/* Some frames on. verifier: as splice_advance() is, a loop in a loop */
__noinline int orc_advance(__u32 hook)
{
	int step = ORC_CALLER;

	for (int i = 0; i < ORC_STEPS && step == ORC_CALLER; i++)
		step = orc_step(hook);
	return step;
}

int orc_walk(__u32 hook)
{
	struct scratch *s = scratch(hook);
	int step = ORC_CALLER;

	if (!knobs.orc || !s || !orc_tables.n)
		return 0;
	s->is_leaf = 1;
	s->chunk_bytes = 0;
	/* one less than the helper tells of: where there are more, it is asked */
	_Static_assert((KERNEL_FRAMES_MAX - 1) % ORC_STEPS == 0, "in whole steps");
	for (int i = 0; i < KERNEL_FRAMES_MAX - 1 && step == ORC_CALLER; i += ORC_STEPS)
		step = orc_advance(hook);
	if (step != ORC_END)
		s->n_words = 0;
	return s->n_words;
}

int orc_is_checked(__u32 hook)
{
	struct ledger *ledger = bpf_map_lookup_elem(&ledgers, &hook);

	if (!ledger)
		return 0;
	ledger->kernel.walked++;
	return ledger->kernel.walked <= ORC_FIRST_CHECKS ||
	       ledger->kernel.walked % ORC_CHECKED_OF == 0 || knobs.faults & CHECK_ORC;
}

/* Takes some of the helper's n frames. verifier: what differs is gathered in memory, of
 * which it follows nothing; and a function, since a loop calls it */
__noinline int orc_check_some(__u32 hook, __u32 from, __u32 n)
{
	struct scratch *s = scratch(hook);

	if (!knobs.orc || !s)
		return 0;
	for (int i = 0; i < ORC_CHECK_STEPS && from + i < n; i++) {
		__u32 at = from + i;

		KEEP(at);
		at &= KERNEL_FRAMES_MAX;
		s->word |= s->words[at] ^ ((__u64 *)s->chunk)[at];
		s->words[at] = ((__u64 *)s->chunk)[at];
	}
	return 0;
}

int orc_check(__u32 hook, __u32 bytes)
{
	struct scratch *s = scratch(hook);
	struct ledger *ledger = bpf_map_lookup_elem(&ledgers, &hook);
	__u32 n = bytes / 8;

	if (!knobs.orc || !s || !ledger)
		return 0;
	ledger->kernel.checked++;
	s->word = n < knobs.helper_frames ? s->n_words ^ n : n > s->n_words;
	for (__u32 i = 0; i < KERNEL_FRAMES_MAX && i < n; i += ORC_CHECK_STEPS)
		orc_check_some(hook, i, n);
	if (!s->word)
		return 0;
	s->n_words = n;
	ledger->kernel.differed++;
	orc_tables.n = 0;
	return 0;
}

static const char header_begin[] = "__start_orc_header";
static const char addresses_begin[] = "__start_orc_unwind_ip";
static const char addresses_end[] = "__stop_orc_unwind_ip";
static const char entries_begin[] = "__start_orc_unwind";
static const char text_begin[] = "_stext";
static const char text_end[] = "_etext";
static const char traced_return[] = "return_to_handler";
static const char probed_return[] = "arch_rethook_trampoline";

/* 0: there is none of that name */
#define ADDRESS_OF(name)                                                                 \
	({                                                                               \
		__u64 found = 0;                                                         \
		bpf_kallsyms_lookup_name(name, sizeof(name), 0, &found) ? 0 : found;     \
	})

/* The format of that hash; NULL: it is not known. */
static __always_inline const struct orc_format *find_format(const __u32 hash[5])
{
	for (__u32 i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		const __u32 *known = formats[i].hash;

		if (hash[0] == known[0] && hash[1] == known[1] && hash[2] == known[2] &&
		    hash[3] == known[3] && hash[4] == known[4])
			return &formats[i];
	}
	return NULL;
}

/* Where the tables are, if this kernel has any of a format that is known. */
SEC("syscall")
int orc_find_tables(void *ctx)
{
	__u64 header = ADDRESS_OF(header_begin), entries = ADDRESS_OF(entries_begin);
	__u64 addresses = ADDRESS_OF(addresses_begin), end = ADDRESS_OF(addresses_end);
	__u64 text = ADDRESS_OF(text_begin), text_stop = ADDRESS_OF(text_end);
	const struct orc_format *format;
	__u32 hash[5] = { 0 };

	if (!header || !entries || !addresses || end <= addresses || !text ||
	    text_stop <= text || !read_kernel(hash, sizeof(hash), header))
		return 0;
	format = find_format(hash);
	if (!format)
		return 0;
	orc_tables.format = *format;
	orc_tables.addresses = addresses;
	orc_tables.entries = entries;
	orc_tables.text = text;
	orc_tables.text_bytes = text_stop - text;
	orc_tables.traced_return = ADDRESS_OF(traced_return);
	orc_tables.probed_return = ADDRESS_OF(probed_return);
	orc_tables.n = (end - addresses) / sizeof(__s32);
	return 0;
}

#else /* arm64 unwinds by frame pointers, which needs no tables */

int orc_walk(__u32 hook)
{
	return 0;
}

int orc_is_checked(__u32 hook)
{
	return 0;
}

int orc_check(__u32 hook, __u32 bytes)
{
	return 0;
}

SEC("syscall")
int orc_find_tables(void *ctx)
{
	return 0;
}

#endif
