/* SPDX-License-Identifier: BSD-2-Clause */
/* Our thread view of a sample beside libdwfl's, address by address. */
#ifndef CROSSCHECK_COMPARE_H
#define CROSSCHECK_COMPARE_H

#include "offline.h"

#include "shared/knobs.h"
#include "shared/record.h"

/* name, does it count as agreement, words */
#define MATCHES(X)                                                                       \
	X(SAME, 1, "the same, to the thread's start")                                    \
	X(SAME_DUMP, 1, "the same, as deep as the kernel's copy goes")                   \
	X(SAME_GAVE_UP, 1, "the same, up to where libdwfl gave up")                      \
	X(SAME_BUDGET, 1, "the same, up to our budget")                                  \
	X(PASSED_OVER, 1, "the same, but for a leaf's caller that libdwfl passes over")  \
	X(GOES_ON, 0, "the same, and ours goes on where libdwfl gave up")                \
	X(SHORT, 0, "the same, but ours ends too soon")                                  \
	X(LONG, 0, "the same, but ours goes on behind the thread's start")               \
	X(AWAITED, 0, "not the same; ours says that a table was not there yet")          \
	X(NO_STACK, 0, "only one of the two saw a user stack")                           \
	X(LEAF, 0, "another leaf")                                                       \
	X(CALLER, 0, "another first caller")                                             \
	X(DIFFERENT, 0, "another caller further up")

enum match {
#define X(name, agrees, words) MATCH_##name,
	MATCHES(X)
#undef X
		N_MATCHES
};

struct our_stack {
	uint64_t at[RECORD_WORDS_MAX]; /* leaf first; no marks */
	size_t n;
	size_t gaps, unproven;
};

const char *match_words(enum match match);
bool match_agrees(enum match match);

void our_stack_read(struct our_stack *ret, const struct sample_rec *rec);

/* How many addresses both have in common, from the leaf up. */
size_t compare_common(const struct our_stack *ours, const struct offline_stack *theirs);

enum match compare(const struct sample_rec *rec, const struct our_stack *ours,
		   const struct offline_stack *theirs);

#endif
