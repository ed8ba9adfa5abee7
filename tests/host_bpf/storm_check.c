// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a record may say of a memory. The frames up to the first gap are walked
 * anew, as plainly as can be; of the rest, each address must lie where some
 * frame or node has it that can be reached from the thread's registers and
 * roots at all.
 */
#include "storm.h"

#define PLACES 16384 /* a power of two */

enum sort { FRAME_AT, ROOT_AT, NODE_AT, N_SORTS };

/* Every place that can be reached, each once a sort. */
struct places {
	struct {
		uint64_t addr;
		uint32_t round; /* of whoever put it there */
		uint32_t sort;
	} slots[PLACES];
	uint32_t list[PLACES]; /* slots, in order of finding */
	uint32_t n, round;
};

static uint64_t word_at(uint64_t addr)
{
	uint64_t word;

	memory_get(addr, &word);
	return word & knobs.addr_mask;
}

static void add(struct places *p, enum sort sort, uint64_t addr)
{
	uint32_t at = (addr * 0x9e3779b97f4a7c15 >> 40) + sort;

	for (; p->slots[at % PLACES].round == p->round; at++) {
		if (p->slots[at % PLACES].addr == addr &&
		    p->slots[at % PLACES].sort == sort)
			return;
	}
	if (p->n >= PLACES / 2)
		return;
	at %= PLACES;
	p->slots[at].addr = addr;
	p->slots[at].sort = sort;
	p->slots[at].round = p->round;
	p->list[p->n++] = at;
}

static void follow(struct places *p, enum sort sort, uint64_t addr)
{
	uint64_t word;

	if (!memory_get(addr, &word))
		return;
	switch (sort) {
	case FRAME_AT:
		add(p, FRAME_AT, word_at(addr));
		break;
	case ROOT_AT:
		add(p, NODE_AT, word_at(addr));
		add(p, ROOT_AT, word_at(addr + 8));
		add(p, FRAME_AT, word_at(addr + 16));
		break;
	default:
		add(p, NODE_AT, word_at(addr));
		add(p, ROOT_AT, word_at(addr + 16));
	}
}

static void find_places(struct places *p, const struct sampled *at)
{
	p->n = 0;
	p->round++;
	add(p, FRAME_AT, at->fp & knobs.addr_mask);
	for (int k = 0; k < KEYS_MAX; k++)
		add(p, ROOT_AT, at->roots[k]);
	for (uint32_t i = 0; i < p->n; i++)
		follow(p, p->slots[p->list[i]].sort, p->slots[p->list[i]].addr);
}

static bool is_told(const struct places *p, enum sort sort, uint64_t addr)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->slots[p->list[i]].sort == sort &&
		    (word_at(p->slots[p->list[i]].addr + 8) & FRAME_ADDR_MASK) == addr)
			return true;
	}
	return false;
}

/* The thread up to its first gap, or to its end. */
static const char *plain_lie(const struct sampled *at, const struct sample_rec *rec)
{
	const uint64_t unmarked = ~(1ULL << 60); /* of Swift's extended frames */
	uint64_t fp = at->fp & knobs.addr_mask & unmarked, word;

	for (uint32_t i = 1; i < rec->n_thread; i++) {
		word = rec->words[rec->n_kernel + i];
		if (FRAME_KIND(word) == FRAME_ROOT)
			continue;
		if (FRAME_KIND(word) == FRAME_GAP)
			return NULL;
		if (FRAME_ADDR(word) != word_at(fp + 8))
			return "a caller that is another";
		fp = word_at(fp) & unmarked;
	}
	if (rec->ending == END_FP_ZERO && fp &&
	    (!memory_get(fp + 8, &word) || word & knobs.addr_mask))
		return "an end that is none";
	if (rec->ending == END_UNREADABLE && memory_get(fp, &word) &&
	    memory_get(fp + 8, &word))
		return "unreadable memory that is there";
	return NULL;
}

const char *storm_lie(const struct sampled *at, const struct sample_rec *rec)
{
	static struct places places;
	const char *lie = knobs.tables ? storm_table_lie(at, rec) : plain_lie(at, rec);

	if (lie)
		return lie;
	find_places(&places, at);
	for (uint32_t i = rec->n_kernel; i < rec->n_words; i++) {
		uint64_t word = rec->words[i];

		if (!knobs.tables &&
		    (FRAME_KIND(word) == FRAME_UNPROVEN ||
		     FRAME_KIND(word) == FRAME_CALLER ||
		     FRAME_KIND(word) == FRAME_LAUNCH ||
		     FRAME_KIND(word) == FRAME_RESUMER) &&
		    !is_told(&places, FRAME_AT, FRAME_ADDR(word)))
			return "a frame that is nowhere";
		if (FRAME_KIND(word) == FRAME_ASYNC &&
		    !is_told(&places, NODE_AT, FRAME_ADDR(word)))
			return "an async caller that is nowhere";
	}
	return NULL;
}

void storm_count(struct storm_sum *sum, const struct sample_rec *rec)
{
	sum->endings[rec->ending]++;
	for (uint32_t i = rec->n_kernel; i < rec->n_words; i++) {
		switch (FRAME_KIND(rec->words[i])) {
		case FRAME_USER:
			sum->signals += i > rec->n_kernel; /* the leaf is none */
			break;
		case FRAME_CALLER:
		case FRAME_LAUNCH:
		case FRAME_RESUMER:
			sum->by_table++;
			break;
		case FRAME_ROOT:
			sum->roots++;
			break;
		case FRAME_GAP:
			sum->gaps++;
			break;
		case FRAME_SEGMENT:
			sum->chains++;
			sum->endings[SEGMENT_ENDING(rec->words[i])]++;
		}
	}
}
