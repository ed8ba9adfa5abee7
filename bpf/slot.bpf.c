// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From a thread of a process with keys to its async roots: the pthread slot of
 * each key that is set.
 *
 * Where a thread keeps its pthread slots no ABI says. The kernel knows two
 * addresses inside glibc's struct pthread, tid (clear_child_tid) and the robust
 * list's head; the slots' first block lies at a fixed distance from the former
 * in every glibc since 2.23 on both machines, and a witness in memory (a
 * pointer of the table to its own first block) tells a thread for which that
 * does not hold. See docs/decisions/finding-the-roots.md.
 */
#include "compat.bpf.h"
#include "slot.bpf.h"
#include "words.bpf.h"

#define GLIBC_SPECIFIC_FROM_TID	  576 /* pthread.specific - pthread.tid */
#define GLIBC_ROBUST_FROM_TID	  16  /* pthread.robust_head - pthread.tid */
#define GLIBC_BLOCK_FROM_SPECIFIC 512 /* pthread.specific_1stblock, before it */
#define GLIBC_KEYS_A_BLOCK	  32

#if defined(__TARGET_ARCH_x86)
#define MUSL_SELF_FROM_TP 0    /* pthread.self */
#define MUSL_TSD_FROM_TP  0x80 /* pthread.tsd */
#else
#define MUSL_SELF_FROM_TP (-200)
#define MUSL_TSD_FROM_TP  (-88)
#endif

/* glibc's table of blocks of slots, {sequence, data} each; 0: not there. */
static __always_inline __u64 find_glibc_slots(const struct process_info *pub)
{
	__u64 tid = (__u64)CURRENT(clear_child_tid, clear_child_tid);
	__u64 at = tid + GLIBC_SPECIFIC_FROM_TID, first = 0;

	if (tid && robust_list() - tid == GLIBC_ROBUST_FROM_TID &&
	    read_user(&first, sizeof(first), at) &&
	    first == at - GLIBC_BLOCK_FROM_SPECIFIC)
		return at;
	if (!pub->specific_offset)
		return 0;
	at = thread_pointer() + pub->specific_offset;
	if (read_user(&first, sizeof(first), at) &&
	    first == at - GLIBC_BLOCK_FROM_SPECIFIC)
		return at;
	return 0;
}

static __always_inline __u64 find_musl_slots(void)
{
	__u64 tp = thread_pointer(), self = 0, tsd = 0;

	if (!tp || !read_user(&self, sizeof(self), tp + MUSL_SELF_FROM_TP))
		return 0;
	if (self != tp + MUSL_SELF_FROM_TP)
		return 0;
	if (!read_user(&tsd, sizeof(tsd), tp + MUSL_TSD_FROM_TP))
		return 0;
	return tsd;
}

/* What pthread_getspecific(key) would return; 0 also when it can't be read. */
static __always_inline __u64 slot_value(struct scratch *s, __u32 key)
{
	__u64 block = s->glibc_slots - GLIBC_BLOCK_FROM_SPECIFIC, value = 0;

	if (s->glibc_slots) {
		/* where the first one is was asked already */
		if (key >= GLIBC_KEYS_A_BLOCK &&
		    (!read_user(&block, sizeof(block),
				s->glibc_slots + 8 * (key / GLIBC_KEYS_A_BLOCK)) ||
		     !block))
			return 0;
		read_user(&value, sizeof(value),
			  block + 16 * (key % GLIBC_KEYS_A_BLOCK) + 8);
	} else {
		read_user(&value, sizeof(value), s->musl_slots + 8 * (__u64)key);
	}
	return value;
}

/* verifier: a function of its own, or each key would be followed into the next */
__noinline int slot_add_cursor(__u32 hook, __u64 key_addr)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u32 key = ASYNC_KEY_UNSET, n;
	__u64 holder, root = 0;
	struct root_cursor *cursor;

	if (!s || !read_user(&key, sizeof(key), key_addr) || key >= ASYNC_KEYS)
		return 0;
	holder = slot_value(s, key) & knobs.addr_mask;
	if (!holder || holder & 7 || !read_user(&root, sizeof(root), holder))
		return 0;
	root &= knobs.addr_mask;
	n = s->n_root_cursors;
	if (!root || root & 7 || n >= KEYS_MAX)
		return 0;
	for (int k = 0; k < KEYS_MAX; k++) {
		if (k < n && s->root_cursors[k].addr == root)
			return 0; /* another copy of the same key */
	}
	/* verifier: before 6.3 a compared copy of n does not bound n itself */
	KEEP(n);
	cursor = &s->root_cursors[n & (KEYS_MAX - 1)];
	if (!read_user(&cursor->root, sizeof(cursor->root), root))
		return 0;
	cursor->root.top &= knobs.addr_mask;
	cursor->root.next &= knobs.addr_mask;
	cursor->root.fp &= knobs.addr_mask;
	cursor->addr = root;
	s->n_root_cursors = n + 1;
	return 1;
}

static __always_inline void read_cookies(struct scratch *s, struct process_info *pub)
{
	s->metadata_cookie = s->suspended_cookie = 0;
	if (pub->metadata_cookie_addr)
		read_user(&s->metadata_cookie, 8, pub->metadata_cookie_addr);
	if (pub->suspended_cookie_addr)
		read_user(&s->suspended_cookie, 8, pub->suspended_cookie_addr);
}

int slot_find_roots(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct process_info *pub;

	if (!s || knobs.faults & FAULT_NO_KEY)
		return 0;
	pub = bpf_map_lookup_elem(&processes, &s->rec.tgid);
	if (!pub)
		return 0;
	s->rec.flags |= SAMPLE_KEY;
	s->glibc_slots = find_glibc_slots(pub);
	s->musl_slots = s->glibc_slots ? 0 : find_musl_slots();
	if (!s->glibc_slots && !s->musl_slots) {
		s->rec.flags |= SAMPLE_NO_SLOT;
		return 0;
	}
	for (int k = 0; k < KEYS_MAX && pub->key_addr[k]; k++)
		slot_add_cursor(hook, pub->key_addr[k]);
	if (s->n_root_cursors)
		read_cookies(s, pub);
	return 0;
}
