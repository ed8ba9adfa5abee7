// SPDX-License-Identifier: BSD-2-Clause
#include "publish/hotspots.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define JVM_AGAIN_NS	    20000000ULL
#define JVM_AGAIN_SHIFT_MAX 6
#define JVM_SETTLED_NS	    2000000000ULL

/* Why it is not read, or not put: of a JVM that starts it is tried again. */
static void note_failure(struct publisher *p, const struct process *process,
			 struct hotspot_state *state, int err)
{
	if (err == -EAGAIN && state->is == HOTSPOT_STARTS) {
		state->again_ns =
			p->config.outside->now_ns() + (JVM_AGAIN_NS << state->n_tried);
		state->n_tried += state->n_tried < JVM_AGAIN_SHIFT_MAX;
	} else {
		state->is = state->is_put ? HOTSPOT_SETTLED : HOTSPOT_UNKNOWN;
		p->counts.refused += err == -E2BIG;
		log_verbose_paced(&p->pace,
				  "the frames of Java code of process %u are cut: %s",
				  process->tgid, error_sentence());
	}
	error_clear();
}

static void read_it(struct publisher *p, const struct process *process,
		    struct hotspot_state *state, uint64_t vm_structs)
{
	const struct outside *outside = p->config.outside;
	struct hotspot vm;
	int err =
		outside->hotspot(p->config.opener, (pid_t)process->tgid, vm_structs, &vm);

	if (!err)
		err = outside->put_hotspot(&p->config.maps, (pid_t)process->tgid, &vm);
	if (err) {
		note_failure(p, process, state, err);
		return;
	}
	state->is = state->is == HOTSPOT_STARTS ? HOTSPOT_YOUNG : HOTSPOT_SETTLED;
	state->is_put = true;
	memcpy(state->heaps, vm.heaps, sizeof(vm.heaps));
	state->again_ns = outside->now_ns() + JVM_SETTLED_NS;
}

bool hotspots_find(struct publisher *p, const struct process *process,
		   struct process_entry *entry, uint64_t vm_structs,
		   struct process_info *process_info)
{
	struct hotspot_state *state = &entry->hotspot;
	bool is_new = state->is == HOTSPOT_NONE && vm_structs && p->config.tables &&
		      process_generated(process);

	if (is_new)
		state->is = HOTSPOT_STARTS;
	if (vm_structs && hotspot_is_awaited(state) &&
	    p->config.outside->now_ns() >= state->again_ns)
		read_it(p, process, state, vm_structs);
	process_info->has_hotspot = state->is_put;
	return is_new;
}

bool hotspot_may_own(const struct hotspot_state *state, uint64_t addr)
{
	if (!state->is_put)
		return state->is != HOTSPOT_NONE;
	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (addr - state->heaps[i].low <
		    state->heaps[i].high - state->heaps[i].low)
			return true;
	return false;
}

void hotspots_forget(struct publisher *p, uint32_t tgid,
		     const struct process_entry *entry)
{
	if (entry->hotspot.is_put)
		p->config.outside->put_hotspot(&p->config.maps, (pid_t)tgid, NULL);
}
