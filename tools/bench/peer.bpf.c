// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a sampler of user stacks in BPF can do: the kernel's own
 * walker into per-CPU memory, and what it found into a ring.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "peer.h"

#define USER_STACK (1ULL << 8) /* BPF_F_USER_STACK of linux/bpf.h */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct peer_rec);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10); /* set to what weft takes at this rate */
} ring SEC(".maps");

SEC("perf_event")
int peer_tick(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	struct peer_rec *rec = bpf_map_lookup_elem(&scratches, &zero);
	long bytes;

	if (!rec)
		return 0;
	rec->ts_ns = bpf_ktime_get_ns();
	rec->who = bpf_get_current_pid_tgid();
	bytes = bpf_get_stack(ctx, rec->frames, sizeof(rec->frames), USER_STACK);
	if (bytes < 0 || bytes > (long)sizeof(rec->frames))
		bytes = 0;
	bpf_ringbuf_output(&ring, rec, PEER_HEADER_BYTES + bytes, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
