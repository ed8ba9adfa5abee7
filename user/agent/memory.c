// SPDX-License-Identifier: BSD-2-Clause
#include "agent/memory.h"

#include "agent/budget_log.h"
#include "agent/usage.h"
#include "base/clock.h"
#include "base/log.h"

/* To look at helpers takes two files each. Far from the budget that may wait. */
#define HELPERS_FAR_NS (10 * SECOND_NS)

static void look_at_helpers(struct memory *memory, uint64_t now_ns)
{
	memory->helper_bytes = usage_helper_bytes();
	memory->helpers_due_ns = now_ns + HELPERS_FAR_NS;
}

static bool is_far(const struct memory *memory, const struct budget *budget, uint64_t own)
{
	return own + memory->helper_bytes < budget->bytes_max / 2;
}

/* While even the most that ever was is far from the budget, that counts. */
static uint64_t in_use(struct memory *memory, const struct budget *budget,
		       uint64_t now_ns)
{
	uint64_t own = usage_peak_bytes();

	if (!is_far(memory, budget, own))
		own = usage_resident_bytes();
	if (now_ns >= memory->helpers_due_ns || !is_far(memory, budget, own))
		look_at_helpers(memory, now_ns);
	return own + memory->helper_bytes;
}

bool memory_keep(struct memory *memory, struct budget *budget, struct naming *naming,
		 uint64_t now_ns)
{
	uint64_t bytes = in_use(memory, budget, now_ns), let_go = 0;
	bool was_short = budget->is_short;

	if (budget_is_full(budget, bytes)) {
		let_go = naming_let_go(naming);
		look_at_helpers(memory, now_ns);
		budget_set_bytes(budget, usage_resident_bytes() + memory->helper_bytes,
				 let_go);
		if (!was_short)
			budget_log_memory(budget, bytes, let_go);
	} else {
		budget_set_bytes(budget, bytes, let_go);
	}
	if (was_short && !budget->is_short)
		log_warn("budget: there is memory again, so weft looks for names");
	naming_set_frugal(naming, budget->is_short);
	return let_go > 0;
}
