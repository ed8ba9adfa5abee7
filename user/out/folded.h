/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks: a line a distinct stack, root to leaf, `;` between frames, a
 * space and how often it was seen. What every flame graph tool reads.
 */
#ifndef WEFT_OUT_FOLDED_H
#define WEFT_OUT_FOLDED_H

#include "base/str.h"
#include "core/names.h"
#include "core/view.h"

#define FOLDED_BOUNDARY "--"
#define FOLDED_GAP	"[missing frames]"
#define FOLDED_CUT	"[cut]"

struct folded_notes {
	uint64_t whole, doubted;
};

/*
 * Lines are sorted and distinct; their counts add up to what was counted.
 * *ret_notes: how many samples each of the view's notes holds for.
 */
int folded_write(struct str *out, const struct profile *profile,
		 const struct module_table *modules, const struct names *names,
		 enum view view, struct folded_notes *ret_notes);

#endif
