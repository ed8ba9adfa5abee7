// SPDX-License-Identifier: BSD-2-Clause
/*
 * Is a record built as include/shared/record.h says? Beyond what sample_check()
 * asks of any bytes: the walker's own records keep every rule there is.
 */
#include "world.h"

struct reader {
	const struct sample_rec *rec;
	unsigned int at;
	unsigned int n_roots;	  /* followed ones so far: numbered in order */
	bool roots_cut;		  /* one that is not was met */
	unsigned int roots_total; /* in the whole record */
	uint64_t roots_here;	  /* bit by number: of the stack at hand */
	int last_chain;		  /* root of the chain before; -1: none */
};

static const char *root_flaw(struct reader *r, unsigned int number)
{
	if (number != ROOT_UNFOLLOWED) {
		if (number > r->n_roots || number >= MAX_ROOTS)
			return "roots out of order";
		if (r->roots_here >> number & 1)
			return "a root twice on one stack";
		r->roots_here |= 1ULL << number;
		r->n_roots += number == r->n_roots;
		return NULL;
	}
	if (r->n_roots < MAX_ROOTS)
		return "a root that is not followed although there is room";
	r->roots_cut = true;
	return NULL;
}

/* Nothing follows but a gap, behind which the walk was taken up again. */
static bool is_end(const struct reader *r, unsigned int i, unsigned int n)
{
	return i + 1 == n || FRAME_KIND(r->rec->words[r->at + i + 1]) == FRAME_GAP;
}

/* Words of a thread's stack: frames, ROOT and GAP. */
static const char *stack_flaw(struct reader *r, unsigned int n, bool own)
{
	const char *flaw;

	r->roots_here = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t word = r->rec->words[r->at + i];

		switch (FRAME_KIND(word)) {
		case FRAME_USER:
			if ((i || !own) && !knobs.tables)
				return "a leaf in the middle without a signal";
			break;
		case FRAME_SYSCALL:
			if (i || !own)
				return "a system call in the middle";
			break;
		case FRAME_UNPROVEN:
		case FRAME_CALLER:
		case FRAME_LAUNCH:
		case FRAME_RESUMER:
			if (!i && own)
				return "no leaf";
			break;
		case FRAME_METHOD:
			if (!i && own)
				return "no leaf";
			break;
		case FRAME_GAP:
			break;
		case FRAME_BOTTOM:
			if ((!i && own) || !is_end(r, i, n))
				return "a bottom that is at no end";
			break;
		case FRAME_ROOT:
			if (!i && own)
				return "a root before the leaf";
			flaw = root_flaw(r, ROOT_NUMBER(word));
			if (flaw)
				return flaw;
			break;
		default:
			return "a word that is of no stack";
		}
	}
	if (r->n_roots > MAX_ROOTS)
		return "too many roots";
	r->at += n;
	return NULL;
}

static bool is_frame(uint64_t word)
{
	return FRAME_KIND(word) == FRAME_USER || FRAME_KIND(word) == FRAME_SYSCALL ||
	       FRAME_KIND(word) == FRAME_UNPROVEN || FRAME_KIND(word) == FRAME_CALLER ||
	       FRAME_KIND(word) == FRAME_LAUNCH || FRAME_KIND(word) == FRAME_RESUMER ||
	       FRAME_KIND(word) == FRAME_METHOD;
}

static const char *target_flaw(const struct reader *r, uint64_t head)
{
	const struct sample_rec *rec = r->rec;
	unsigned int target = SEGMENT_TARGET(head);

	if (SEGMENT_ENDING(head) != END_REJOINED)
		return target ? "a target without a use" : NULL;
	if (!target || target > rec->n_thread)
		return "a target outside of the thread";
	if (!is_frame(rec->words[rec->n_kernel + target - 1]))
		return "a target that is behind no frame";
	return NULL;
}

static const char *chain_flaw(struct reader *r, uint64_t head)
{
	switch (SEGMENT_ENDING(head)) {
	case END_NO_USER:
	case END_FP_ZERO:
	case END_TORN:
	case END_FOREIGN:
	case END_AWAITED:
		return "a chain with the ending of a thread";
	}
	if ((int)SEGMENT_ROOT(head) <= r->last_chain)
		return "chains out of order";
	r->last_chain = SEGMENT_ROOT(head);
	if (SEGMENT_ROOT(head) >= r->roots_total)
		return "a chain of no root";
	for (unsigned int i = 0; i < SEGMENT_COUNT(head); i++) {
		if (FRAME_KIND(r->rec->words[r->at + i]) != FRAME_ASYNC &&
		    FRAME_KIND(r->rec->words[r->at + i]) != FRAME_LABEL)
			return "a word that is of no chain";
	}
	r->at += SEGMENT_COUNT(head);
	return target_flaw(r, head);
}

static const char *segment_flaw(struct reader *r, bool crossing)
{
	uint64_t head = r->rec->words[r->at++];

	if (FRAME_KIND(head) != FRAME_SEGMENT)
		return "words in no segment";
	if (SEGMENT_ENDING(head) >= N_ENDINGS)
		return "an ending that is none";
	if (r->at + SEGMENT_COUNT(head) > r->rec->n_words)
		return "a segment that is too long";
	if ((SEGMENT_KIND(head) == SEGMENT_THREAD) != crossing)
		return "a crossing without a thread, or the reverse";
	if (!crossing)
		return chain_flaw(r, head);
	if ((int)SEGMENT_ROOT(head) != r->last_chain)
		return "a crossing of another chain";
	return stack_flaw(r, SEGMENT_COUNT(head), false);
}

static unsigned int count_kind(const struct sample_rec *rec, unsigned int kind)
{
	unsigned int n = 0;

	for (unsigned int i = rec->n_kernel; i < rec->n_words; i++)
		n += FRAME_KIND(rec->words[i]) == kind;
	return n;
}

static const char *flags_flaw(const struct sample_rec *rec, bool roots_cut)
{
	if (!(rec->flags & SAMPLE_ROOTS_CUT) != !roots_cut)
		return "a false word about roots that are cut";
	if (!(rec->flags & SAMPLE_UNPROVEN) != !count_kind(rec, FRAME_UNPROVEN))
		return "a false word about what is proven";
	if (rec->ending == END_AWAITED && !(rec->flags & SAMPLE_AWAITED))
		return "a false word about what is awaited";
	if (!(rec->flags & SAMPLE_ASYNC) != !count_kind(rec, FRAME_SEGMENT))
		return "a false word about chains";
	return NULL;
}

const char *record_flaw(const struct sample_rec *rec)
{
	struct reader r = {
		.rec = rec,
		.at = rec->n_kernel,
		.roots_total = count_kind(rec, FRAME_ROOT),
		.last_chain = -1,
	};
	bool crossing = false;
	const char *flaw;

	if (rec->n_words >= RECORD_WORDS_MAX)
		return "too many words";
	flaw = stack_flaw(&r, rec->n_thread, true);
	while (!flaw && r.at < rec->n_words) {
		uint64_t head = rec->words[r.at];

		flaw = segment_flaw(&r, crossing);
		crossing = SEGMENT_ENDING(head) == END_CROSSED;
	}
	if (!flaw && crossing)
		return "a crossing to nowhere";
	return flaw ? flaw : flags_flaw(rec, r.roots_cut);
}
