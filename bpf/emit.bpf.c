// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Out of the kernel: one ring a CPU, written by that CPU's ticks alone, and
 * the ledger. The reader sleeps until a ring is a quarter full; otherwise it
 * comes by on its own time.
 */
#include "emit.bpf.h"

int emit_outcome(__u32 hook, __u32 outcome)
{
	struct ledger *l = ledger(hook);

	if (l && outcome < N_OUTCOMES)
		l->outcomes[outcome]++;
	return 0;
}

static __always_inline void tally_kept(__u32 hook, __u32 ending)
{
	struct ledger *l = ledger(hook);

	if (!l)
		return;
	l->outcomes[OUTCOME_KEPT]++;
	if (ending < N_ENDINGS)
		l->endings[ending]++;
}

int emit_record(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 flags = BPF_RB_NO_WAKEUP;
	__u32 n;
	void *ring;

	if (!s)
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		return emit_outcome(hook, OUTCOME_NO_RING);

	n = s->n_words;
	if (n > RECORD_WORDS_MAX) /* verifier: the budgets add up to less */
		n = RECORD_WORDS_MAX;
	s->rec.n_words = n;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > knobs.wakeup_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(ring, &s->rec, SAMPLE_HEADER_BYTES + n * 8, flags))
		return emit_outcome(hook, OUTCOME_RING_FULL);
	tally_kept(hook, s->rec.ending);
	return 1;
}

int emit_busy(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct ledger *l = ledger(hook);

	if (s && l)
		l->busy_ns += bpf_ktime_get_ns() - s->rec.ts_ns;
	return 0;
}
