// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A word of a thread's stack, for whoever needs one now and then. */
#include "chunk.bpf.h"

int chunk_read(__u32 hook, __u64 addr)
{
	struct scratch *s = scratch(hook);
	__u64 offset;

	if (!s)
		return 0;
	offset = in_chunk(s, addr, 8);
	if (offset > CHUNK_BYTES - 8) {
		if (!load_chunk(s, addr, 8))
			return 0;
		offset = 0;
	}
	s->word = *(__u64 *)(s->chunk + offset);
	return 1;
}
