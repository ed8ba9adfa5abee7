/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Async roots: where each lies on the thread's stack, at which frame it is found. All of
 * it is the process's own memory and may be garbage.
 */
#ifndef WEFT_ROOTS_BPF_H
#define WEFT_ROOTS_BPF_H

#include "chunk.bpf.h"
#include "words.bpf.h"

static __always_inline bool read_root(struct scratch *s, struct async_root *to,
				      __u64 addr)
{
	if (!addr || addr & 7 || addr & ~FRAME_ADDR_MASK)
		return false;
	if (!read_near(s, to, sizeof(*to), addr))
		return false;
	to->top &= knobs.addr_mask;
	to->next &= knobs.addr_mask;
	to->fp &= knobs.addr_mask;
	return true;
}

/*
 * Has the function returned whose frame pointer a root has? Where the frame was
 * other code runs, below the stack pointer or over another return address. Only
 * asked of a root that lies above it: one of a function's own lies below.
 */
static __always_inline bool registrant_returned(struct scratch *s,
						const struct async_root *root, __u64 addr)
{
	__u64 fp = root->fp, above = addr - fp;

	if (!above || above >= SAME_STACK_BYTES)
		return false;
	if (s->sp - fp - 1 < above)
		return true;
	return root->ra && (!read_user(&s->word, sizeof(s->word), fp + 8) ||
			    (s->word ^ root->ra) & knobs.addr_mask);
}

/* A root whose registrant has returned (libunifex: a constructor) is its holder's. */
static __always_inline __u64 place_of(struct scratch *s, const struct async_root *root,
				      __u64 addr)
{
	return registrant_returned(s, root, addr) ? addr : root->fp;
}

static __always_inline void load_root_cursor(struct scratch *s,
					     struct root_cursor *cursor, __u64 addr)
{
	cursor->addr = read_root(s, &cursor->root, addr) ? addr : 0;
	if (cursor->addr)
		cursor->place = place_of(s, &cursor->root, addr);
}

/* By interval: the root's place lies in the memory of the frame at hand. */
static __always_inline bool frame_registered(struct scratch *s,
					     struct root_cursor *cursor)
{
	if (!cursor->addr)
		return false;
	if (knobs.faults & FAULT_NO_INTERVAL)
		return cursor->root.fp == s->fp;
	return cursor->place - s->frame_bounds.low < s->frame_bounds.bytes;
}

int roots_place(__u32 hook);		     /* those of the cursors there are */
int roots_place_cursor(__u32 hook, __u32 k); /* the k-th cursor's */
int roots_mark(__u32 hook);		     /* that the frame at hand registered */
int roots_mark_next(__u32 hook);
int roots_mark_gap(__u32 hook, __u32 ending); /* and the roots of s->frame_bounds */
int roots_weigh_cursor(__u32 hook, __u32 k);
/* The head of the nearest ahead; or, of a stack that is at its end, of the next one
 * wherever it lies but on that stack. KEYS_MAX: none. */
int roots_find_nearest(__u32 hook, __u32 elsewhere);
int roots_end_stack(__u32 hook); /* are some left that no frame registered? */

/* Most frames have registered none, and most processes have one key. */
static __always_inline void roots_check_frame(struct scratch *s, __u32 hook)
{
	if (!has_root_cursors(s))
		return;
	if (s->n_root_cursors == 1) {
		if (!frame_registered(s, &s->root_cursors[0]))
			return;
		s->key_at_hand = 0;
		roots_mark_next(hook);
		if (!frame_registered(s, &s->root_cursors[0]))
			return;
	}
	roots_mark(hook);
}

#endif
