// SPDX-License-Identifier: BSD-2-Clause
#include "record/unproven.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* Of a node: what its frame and those above it say. */
enum step_bits {
	STEPPED_TO = 1 << 0, /* by frame pointer, out of the frame below it */
	HAS_STEP = 1 << 1,
	FROM_OTHERS = 1 << 2, /* such a step out of what is no such generated code */
};

static uint8_t look_at(const struct name_ledger_source *source, uint32_t code,
		       uint8_t above)
{
	bool is_frame = PROFILE_IS_FRAME(code);
	uint8_t bits = above & (HAS_STEP | FROM_OTHERS);

	/* it lies in the frame above */
	if (is_frame && source->profile->frames.items[code].type == FRAME_TYPE_INLINED)
		return above;
	if (above & STEPPED_TO &&
	    (!is_frame || names_origin(source->names, code) != NAME_ORIGIN_JIT))
		bits |= FROM_OTHERS;
	if (is_frame && aggregator_frame(source->aggregator, code)->unproven)
		bits |= STEPPED_TO | HAS_STEP;
	return bits;
}

static bool is_generated(const struct profile_stack *stack, const uint8_t *bits)
{
	uint8_t async = bits[stack->node[VIEW_ASYNC]],
		thread = bits[stack->node[VIEW_THREAD]];

	return stack->notes & STACK_COMPLETE_THREAD && thread & HAS_STEP &&
	       !((async | thread) & FROM_OTHERS);
}

int unproven_count_generated(const struct name_ledger_source *source, uint64_t *ret)
{
	const struct profile *r = source->profile;
	AUTO_FREE uint8_t *bits = calloc(r->nodes.n + 1, sizeof(*bits));
	uint64_t n = 0;

	if (!bits)
		return fail(-ENOMEM, "no memory for %zu nodes", (size_t)r->nodes.n);
	/* a caller's node is older than those of whom it called */
	for (uint32_t i = 1; i < r->nodes.n; i++)
		bits[i] = look_at(source, profile_code(r, i), bits[profile_parent(r, i)]);
	for (size_t i = 0; i < r->timeline.sample_keys.n; i++)
		if (is_generated(&r->stacks.items[r->timeline.sample_keys.items[i].a],
				 bits))
			n += r->timeline.counts.items[i];
	*ret = n;
	return 0;
}
