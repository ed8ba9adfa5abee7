/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that were found before, by their table's serial number and address: of a hot
 * stack most were, a tick ago, and a search reads five pages. What a frame costs at 99 Hz
 * is the lines of memory that it is the first to touch, so a rule is packed into a word:
 * four of them with their keys are in a line. Where it does not come back from that as it
 * was (registers other than sp and fp, large frames), the word says where it stands.
 */
#ifndef WEFT_RULE_CACHE_BPF_H
#define WEFT_RULE_CACHE_BPF_H

#include "maps.bpf.h"

#define RULE_KEY_ADDR_BITS 40
#define RULE_KEY_SPREAD	   0x9e3779b97f4a7c15ULL /* 2^64 by the golden ratio */

/*
 * From the lowest bit: call, ra and fp, 2 each; cfa, 4; ra_words, bx_words and fp_words,
 * 12 each; cfa_offset in words, 17. Or, where PACKED_PLACE is set: call; 32 of the page,
 * 12 of the number in it.
 */
#define PACKED_PLACE (1ULL << 63)
#define PACKED_LOST  (-2048) /* UNWIND_BX_LOST */
#define PACKED_CALL  3ULL
#define PAGE_SHIFT   2
#define NUMBER_SHIFT 34
#define NUMBER_MASK  4095
#define WORDS_MASK   4095ULL
#define OFFSET_MASK  0x1ffffULL

/* `bits` of a word that end below `end`, with their sign. */
#define SIGNED_BITS(word, end, bits) ((__s64)((word) << (64 - (end))) >> (64 - (bits)))

static __always_inline __u64 rule_pack(const struct unwind_rule *rule)
{
	__u64 bx = rule->bx_words == UNWIND_BX_LOST ? PACKED_LOST : rule->bx_words;

	return (__u64)(rule->ra & 3) << 2 | (__u64)(rule->fp & 3) << 4 |
	       (__u64)(rule->cfa & 15) << 6 | ((__u64)rule->ra_words & WORDS_MASK) << 10 |
	       (bx & WORDS_MASK) << 22 | ((__u64)rule->fp_words & WORDS_MASK) << 34 |
	       ((__u64)rule->cfa_offset >> 3 & OFFSET_MASK) << 46;
}

static __always_inline void rule_unpack(struct unwind_rule *rule, __u64 packed)
{
	__s64 bx = SIGNED_BITS(packed, 34, 12);

	rule->cfa_offset = SIGNED_BITS(packed, 63, 17) * 8;
	rule->deref_offset = 0;
	rule->bx_words = bx == PACKED_LOST ? UNWIND_BX_LOST : bx;
	rule->fp_words = SIGNED_BITS(packed, 46, 12);
	rule->ra_words = SIGNED_BITS(packed, 22, 12);
	rule->cfa = packed >> 6 & 15;
	rule->fp = packed >> 4 & 3;
	rule->ra = packed >> 2 & 3;
	rule->reg = 0;
}

static __always_inline bool rule_is_same(const struct unwind_rule *a,
					 const struct unwind_rule *b)
{
	return a->cfa_offset == b->cfa_offset && a->deref_offset == b->deref_offset &&
	       a->bx_words == b->bx_words && a->fp_words == b->fp_words &&
	       a->ra_words == b->ra_words && a->cfa == b->cfa && a->fp == b->fp &&
	       a->ra == b->ra && a->reg == b->reg;
}

static __always_inline struct cached_rule *rule_cache_slot(struct scratch *s)
{
	return &s->rule_cache[s->rule_key * RULE_KEY_SPREAD >> (64 - RULE_CACHE_BITS)];
}

/* The rule for an address of s->mapping, if it was found before. */
static __always_inline bool rule_cache_get(struct scratch *s, __u64 addr)
{
	__u64 serial = UNWIND_SERIAL(s->mapping.flags);
	__u64 at = addr - s->mapping.bias;
	const union unwind_page *page;
	struct cached_rule *slot;
	__u64 packed;

	/* verifier: not on the stack, of which six calls have 512 bytes together */
	s->rule_key = serial && !(at >> RULE_KEY_ADDR_BITS)
			      ? serial << RULE_KEY_ADDR_BITS | at
			      : 0;
	slot = rule_cache_slot(s);
	if (!s->rule_key || slot->key != s->rule_key)
		return false;
	packed = slot->packed;
	if (!s->is_leaf && (packed & PACKED_CALL) == CALL_NOT_ASKED)
		return false;
	s->call = packed & PACKED_CALL;
	if (!(packed & PACKED_PLACE)) {
		rule_unpack(&s->rule, packed);
		return true;
	}
	page = unwind_page(packed >> PAGE_SHIFT);
	if (!page)
		return false;
	s->rule = page->rules[packed >> NUMBER_SHIFT & (UNWIND_RULES_A_PAGE - 1)];
	return true;
}

/* s->rule, which is the n-th of that page; for what was asked for last. */
static __always_inline void rule_cache_put(struct scratch *s, __u32 page, __u32 n)
{
	struct cached_rule *slot = rule_cache_slot(s);
	struct unwind_rule same;
	__u64 packed;

	if (!s->rule_key)
		return;
	packed = rule_pack(&s->rule);
	rule_unpack(&same, packed);
	if (!rule_is_same(&same, &s->rule))
		packed = PACKED_PLACE | (__u64)page << PAGE_SHIFT |
			 (__u64)(n & NUMBER_MASK) << NUMBER_SHIFT;
	slot->key = s->rule_key;
	slot->packed = packed | (s->call & PACKED_CALL);
}

#endif
