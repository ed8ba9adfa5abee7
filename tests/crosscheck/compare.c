// SPDX-License-Identifier: BSD-2-Clause
#include "compare.h"

static const struct {
	const char *words;
	bool agrees;
} matches[] = {
#define X(name, agrees, words) { words, agrees },
	MATCHES(X)
#undef X
};

const char *match_words(enum match match)
{
	return matches[match].words;
}

bool match_agrees(enum match match)
{
	return matches[match].agrees;
}

void our_stack_read(struct our_stack *ret, const struct sample_rec *rec)
{
	const unsigned long long *words = rec->words + rec->n_kernel;

	ret->n = ret->gaps = ret->unproven = 0;
	for (unsigned int i = 0; i < rec->n_thread; i++) {
		switch (FRAME_KIND(words[i])) {
		case FRAME_ROOT:
			break;
		case FRAME_GAP:
			ret->gaps++;
			break;
		case FRAME_UNPROVEN:
			ret->unproven++;
			/* fall through */
		default:
			ret->at[ret->n++] = FRAME_ADDR(words[i]);
			break;
		}
	}
}

size_t compare_common(const struct our_stack *ours, const struct offline_stack *theirs)
{
	size_t n = ours->n < theirs->n ? ours->n : theirs->n, i = 0;

	while (i < n && ours->at[i] == (theirs->at[i] & FRAME_ADDR_MASK))
		i++;
	return i;
}

/* All that libdwfl found is in ours, and perhaps more. */
static enum match compare_end(const struct our_stack *ours,
			      const struct offline_stack *theirs)
{
	switch (theirs->end) {
	case OFFLINE_START:
		return ours->n == theirs->n ? MATCH_SAME : MATCH_LONG;
	case OFFLINE_DUMP:
		return MATCH_SAME_DUMP;
	default:
		return ours->n == theirs->n ? MATCH_SAME_GAVE_UP : MATCH_GOES_ON;
	}
}

/* Generated code tells libdwfl nothing, nor do V8's builtins, so it leaves a leaf by its
 * frame pointer, past the caller where the leaf has no frame of its own. Where a file
 * tells of the leaf, and all is proven, tables tell both. */
static bool passes_over(const struct our_stack *ours, const struct offline_stack *theirs)
{
	if ((!ours->unproven && !theirs->leaf_untold) || !theirs->n ||
	    ours->n != theirs->n + 1 || ours->at[0] != (theirs->at[0] & FRAME_ADDR_MASK))
		return false;
	for (size_t i = 1; i < theirs->n; i++)
		if (ours->at[i + 1] != (theirs->at[i] & FRAME_ADDR_MASK))
			return false;
	return true;
}

static enum match compare_addresses(const struct our_stack *ours,
				    const struct offline_stack *theirs)
{
	size_t common = compare_common(ours, theirs);

	if (!ours->n != !theirs->n)
		return MATCH_NO_STACK;
	if (common == theirs->n)
		return compare_end(ours, theirs);
	if (common == ours->n)
		return MATCH_SHORT;
	if (passes_over(ours, theirs))
		return MATCH_PASSED_OVER;
	if (common > 1)
		return MATCH_DIFFERENT;
	return common ? MATCH_CALLER : MATCH_LEAF;
}

enum match compare(const struct sample_rec *rec, const struct our_stack *ours,
		   const struct offline_stack *theirs)
{
	enum match match = compare_addresses(ours, theirs);

	if (match == MATCH_SHORT && rec->ending == END_BUDGET)
		return MATCH_SAME_BUDGET;
	return !match_agrees(match) && rec->flags & SAMPLE_AWAITED ? MATCH_AWAITED
								   : match;
}
