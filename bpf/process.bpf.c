// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What was published about the process that a tick fell on, if it is still that
 * process: whether it has async keys, and what it has mapped.
 */
#include "incarnation.bpf.h"
#include "process.bpf.h"
#include "table.bpf.h"

int process_begin(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct process_info *pub;

	if (!s)
		return 0;
	s->has_keys = 0;
	take_mapping_table(s, NULL);
	pub = bpf_map_lookup_elem(&processes, &s->rec.tgid);
	if (!pub)
		return 0;
	if (!(knobs.faults & FAULT_NO_IDENTITY) && !same_incarnation(pub)) {
		s->rec.flags |= SAMPLE_STALE;
		return 0;
	}
	s->has_keys = pub->key_addr[0] != 0;
	take_mapping_table(s, pub);
	return 0;
}
