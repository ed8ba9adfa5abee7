/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of the process that was read ahead: of the stack while a thread is walked (as
 * much as the last step suggests), of what lies around a node while a chain is. A read
 * costs some 100 ns however little it brings, and what is read next mostly lies
 * near. What was read may be microseconds old.
 */
#ifndef WEFT_CHUNK_BPF_H
#define WEFT_CHUNK_BPF_H

#include "maps.bpf.h"

/* Where in the chunk n bytes at addr lie; CHUNK_BYTES: they don't. */
static __always_inline __u64 in_chunk(struct scratch *s, __u64 addr, __u32 n)
{
	__u64 offset = addr - s->chunk_base;

	/* not offset + n: what lies below the chunk would wrap to 0 */
	if (s->chunk_bytes < n || offset > s->chunk_bytes - n)
		return CHUNK_BYTES;
	offset &= CHUNK_BYTES - 1;
	if (offset > CHUNK_BYTES - n) /* verifier: never */
		return CHUNK_BYTES;
	return offset;
}

/* The same of what lies beside the chunk; more than both have bytes: nowhere. */
static __always_inline __u64 in_beside(struct scratch *s, __u64 addr, __u32 n)
{
	__u64 offset = addr - s->beside_base;

	if (s->beside_bytes < n || offset > s->beside_bytes - n)
		return 2 * CHUNK_BYTES;
	return CHUNK_BYTES + (offset & (BESIDE_BYTES - 1));
}

/* n bytes of the chunk, a multiple of 8 and a constant, a word at a time: clang takes
 * the chunk for bytes. */
static __always_inline void copy_words(struct scratch *s, void *to, __u32 n, __u64 offset)
{
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < n / 8; i++)
		((__u64 *)to)[i] = ((const __u64 *)(s->chunk + offset))[i];
}

/* n bytes at addr, as above, out of the chunk if they are in it. */
static __always_inline bool read_near(struct scratch *s, void *to, __u32 n, __u64 addr)
{
	__u64 offset = in_chunk(s, addr, n);

	if (offset > CHUNK_BYTES - n)
		offset = in_beside(s, addr, n);
	KEEP(offset);
	if (offset > sizeof(s->chunk) - n)
		return read_user(to, n, addr);
	copy_words(s, to, n, offset);
	return true;
}

/* Reads the stack from addr on, `least` bytes or more; false: not readable. */
static __always_inline bool load_chunk(struct scratch *s, __u64 addr, __u32 least)
{
	__u64 left_in_page = knobs.page_bytes - (addr & (knobs.page_bytes - 1));
	__u32 bytes = CHUNK_BYTES;

	if (!s->step_bytes || s->step_bytes >= SAME_STACK_BYTES) /* from another stack */
		bytes = FIRST_CHUNK_BYTES;
	else if (s->step_bytes <= SHORT_STEP_BYTES)
		bytes = SHORT_CHUNK_BYTES;
	else if (s->step_bytes > LONG_STEP_BYTES)
		bytes = FRAME_BYTES;
	if (left_in_page < least)
		bytes = FRAME_BYTES;
	else if (left_in_page < bytes)
		bytes = left_in_page & (CHUNK_BYTES - 1);
	s->chunk_base = addr;
	s->chunk_bytes = bytes;
	if (read_user(s->chunk, bytes, addr))
		return true;
	s->chunk_bytes = 0; /* its zeroes are no stack */
	return false;
}

/* chunk.bpf.c: 8 bytes of stack into s->word; 0: not readable */
int chunk_read(__u32 hook, __u64 addr);

#endif
