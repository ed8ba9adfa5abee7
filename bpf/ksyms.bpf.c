// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names for addresses in the kernel, asked of the kernel. An object of its own, loaded
 * when somebody wants a name: kernels before 5.14 have no programs of this kind.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "shared/ksyms.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KSYMS_BATCH);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct ksym);
} ksyms SEC(".maps");

static const char symbol_and_offset[] = "%pS";

SEC("syscall")
int ksyms_name(void *ctx)
{
	for (__u32 i = 0; i < KSYMS_BATCH; i++) {
		__u32 n = i;
		struct ksym *one = bpf_map_lookup_elem(&ksyms, &n);

		if (!one || !one->addr)
			break;
		bpf_snprintf(one->text, sizeof(one->text), symbol_and_offset, &one->addr,
			     sizeof(one->addr));
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
