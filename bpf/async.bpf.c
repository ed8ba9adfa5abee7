// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Roots and chains: what a thread's stack doesn't say about who asked for the
 * work. Everything read here lies in the process's own memory and may be
 * garbage; the worst that it can do is to end its own chain with a true word
 * about why.
 */
#include "chunk.bpf.h"

/*
 * How much to read where a chain goes on: of a node that lies elsewhere what a wait
 * has beside it, its root; behind a short step, since operations that were begun one
 * after another mostly lie so, a few of its callers, too, on the side where it went.
 */
#define NODE_BYTES  64
#define NEAR_BYTES  1024
#define NODES_BYTES 2048

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

__noinline int async_place_root(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);

	if (s && k < KEYS_MOST)
		s->heads[k].place = place_of(s, &s->heads[k].root, s->heads[k].addr);
	return 0;
}

int async_place_roots(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (__u32 k = 0; k < KEYS_MOST; k++) {
		if (k >= s->n_heads)
			break;
		async_place_root(hook, k);
	}
	return 0;
}

static __always_inline void load_head(struct scratch *s, struct head *head, __u64 addr)
{
	head->addr = read_root(s, &head->root, addr) ? addr : 0;
	if (head->addr)
		head->place = place_of(s, &head->root, addr);
}

static __always_inline bool was_met(struct scratch *s, __u64 addr)
{
	for (int i = 0; i < MAX_ROOTS; i++) {
		if (i >= s->n_roots)
			return false;
		if (root_met(s, i)->addr == addr)
			return true;
	}
	return false;
}

/* A word between frames: no memory is its. */
static __always_inline void emit_mark(struct scratch *s, __u32 hook, __u64 word)
{
	keep_extent(s, hook, 0, 0);
	emit_word(s, word);
}

/* Marks the place of the k-th head's root and goes to the root behind it. */
__noinline int async_mark_root(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);
	struct head *head;
	__u32 n;

	if (!s || k >= KEYS_MOST)
		return 0;
	head = &s->heads[k];
	n = s->n_roots;
	if (was_met(s, head->addr)) {
		head->addr = 0;
		return 0;
	}
	if (n >= MAX_ROOTS) {
		emit_mark(s, hook,
			  (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | ROOT_UNFOLLOWED);
		s->rec.flags |= SAMPLE_ROOTS_CUT;
		head->addr = 0;
		return 0;
	}
	root_met(s, n)->mark = s->n_words;
	emit_mark(s, hook, (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | n);
	root_met(s, n)->addr = head->addr;
	root_met(s, n)->top = head->root.top;
	s->n_roots = n + 1;
	load_head(s, head, head->root.next);
	return 0;
}

__noinline int async_mark_roots(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	s->key_at_hand = 0;
	/* one function may have registered several, one in another */
	for (int i = 0; i < MAX_ROOTS + KEYS_MOST; i++) {
		__u32 k = s->key_at_hand;

		if (k >= KEYS_MOST || k >= s->n_heads)
			break;
		if (frame_registered(s, &s->heads[k]))
			async_mark_root(hook, k);
		else
			s->key_at_hand = k + 1;
	}
	return 0;
}

static __always_inline void mark_gap(struct scratch *s, __u32 hook)
{
	emit_mark(s, hook, (__u64)FRAME_GAP << FRAME_KIND_SHIFT);
	async_meet_roots(s, hook);
}

int async_mark_gap(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (s)
		mark_gap(s, hook);
	return 0;
}

/* Is the k-th head's root the nearest one ahead? verifier: a function, since each of its
 * ways out would double those through the heads behind it */
__noinline int async_weigh_head(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);
	struct head *head;

	if (!s || k >= KEYS_MOST)
		return 0;
	head = &s->heads[k];
	if (!head->addr || head->root.fp & 7 || head->root.fp < s->sp ||
	    head->place != head->root.fp)
		return 0;
	if (head->root.fp - s->sp < s->distance) {
		s->distance = head->root.fp - s->sp;
		s->nearest = k;
	}
	return 0;
}

/*
 * The thread's walk has lost its way below s->sp. The nearest root ahead knows
 * a true frame pointer: a gap, then on from there.
 */
int async_take_checkpoint(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u32 nearest;

	if (!s)
		return 0;
	/* verifier: it would follow a number in a register through every head */
	s->nearest = KEYS_MOST;
	s->distance = CHECKPOINT_BYTES;
	for (int k = 0; k < KEYS_MOST; k++) {
		if (k >= s->n_heads)
			break;
		async_weigh_head(hook, k);
	}
	nearest = s->nearest;
	if (nearest >= KEYS_MOST)
		return 0;
	s->fp = s->sp = s->heads[nearest].root.fp;
	s->cfa = s->fp + FRAME_BYTES;
	s->how = HOW_FP_TRUE;
	s->exact = 0;
	s->bx_at = BX_UNKNOWN;
	walk_measure(hook);
	mark_gap(s, hook); /* and all that this function registered */
	start_cycle_test(s);
	return 1;
}

static __always_inline void open_segment(struct scratch *s)
{
	s->segment = s->n_words;
	emit_word(s, 0);
}

static __always_inline void close_segment(struct scratch *s, __u32 kind, __u32 ending,
					  __u32 target)
{
	__u32 count = s->n_words - s->segment - 1;

	s->words[s->segment & (RECORD_WORDS_MOST - 1)] =
		SEGMENT_WORD(kind, ending, s->next_root - 1, target, count);
}

int async_open_chain(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (int i = 0; i < MAX_ROOTS; i++) {
		__u32 k = s->next_root;

		if (k >= s->n_roots || k >= MAX_ROOTS)
			return 0;
		s->next_root = k + 1;
		s->node = root_met(s, k)->top;
		if (!s->node) /* the dispatcher runs no operation */
			continue;
		s->rec.flags |= SAMPLE_ASYNC;
		s->frame.ip = 0;
		s->node_before = 0;
		start_cycle_test(s);
		open_segment(s);
		return 1;
	}
	return 0;
}

static __always_inline bool frame_holds(struct extents *all, __u32 word, __u64 fp)
{
	struct extent *extent = &all->of[word & (RECORD_WORDS_MOST - 1)];

	return fp - extent->low < extent->bytes;
}

/* verifier: as splice_advance(), a loop in a loop */
#define FIND_STEPS 32

__noinline int async_find_among(__u32 hook, __u64 fp, __u32 from)
{
	struct scratch *s = scratch(hook);
	struct extents *all = extents(hook);

	if (!s || !all)
		return 0;
	for (int i = 0; i < FIND_STEPS; i++, from++) {
		if (from >= s->rec.n_thread)
			return 0;
		if (frame_holds(all, s->thread_start + from, fp))
			return from + 1;
	}
	return 0;
}

/*
 * The word behind the thread frame in whose memory fp lies; 0: none. Most often it
 * is the dispatcher itself that waits: the frame behind its root's mark.
 */
__noinline int async_find_frame(__u32 hook, __u64 fp)
{
	struct scratch *s = scratch(hook);
	struct extents *all = extents(hook);
	__u32 first, dispatcher;

	if (!s || !all || !fp)
		return 0;
	first = s->thread_start;
	dispatcher = root_met(s, s->next_root - 1)->mark + 1;
	if (dispatcher - first < s->rec.n_thread && frame_holds(all, dispatcher, fp))
		return dispatcher - first + 1;
	for (__u32 i = 0; i < FRAMES_MOST + 2 * MAX_ROOTS; i += FIND_STEPS) {
		int found = async_find_among(hook, fp, i);

		if (found)
			return found;
	}
	return 0;
}

/*
 * To the caller of the function that waits at root q; false: not readable. Where
 * a frame record lies anywhere in its frame, that function's table says where it
 * ends, and where the chain goes on says which function that is. It must be one
 * whose memory holds the root; else the record alone leads on.
 */
static __always_inline bool leave_waiting(struct scratch *s, __u32 hook,
					  struct async_root *q, __u64 q_addr)
{
	__u64 record[2];

	s->exact = 0;
	s->bx_at = BX_UNKNOWN;
	if (!FP_GIVES_SP && s->by_table) {
		s->pc = s->asked_at;
		s->fp = s->sp = q->fp;
		s->sp_is_least = 1;
		s->chunk_bytes = 0;
		table_look_up(hook);
		if (s->how == HOW_TABLE && s->cfa - q_addr < SAME_STACK_BYTES &&
		    table_step(hook) == N_ENDINGS)
			return true;
	}
	if (q->fp & 7 || q->fp & ~FRAME_ADDR_MASK ||
	    !read_user(record, sizeof(record), q->fp))
		return false;
	s->fp = record[0] & knobs.addr_mask;
	s->pc = record[1] & knobs.addr_mask & FRAME_ADDR_MASK;
	s->sp = q->fp + FRAME_BYTES;
	return true;
}

/* On to the stack of the thread that waits at root q for this chain. */
static __always_inline __u32 cross(struct scratch *s, __u32 hook, struct async_root *q,
				   __u64 q_addr)
{
	__u64 place = place_of(s, q, q_addr);
	__u32 target = async_find_frame(hook, place);

	if (target) {
		close_segment(s, SEGMENT_CHAIN, END_REJOINED, target);
		s->phase = PHASE_ROOT;
		return 1;
	}
	if (place != q->fp || !leave_waiting(s, hook, q, q_addr))
		return 0;
	close_segment(s, SEGMENT_CHAIN, END_CROSSED, 0);
	open_segment(s);
	s->waiting_root = q_addr;
	s->waiting_node = s->node;
	s->lane = 1;
	for (int k = 1; k < KEYS_MOST; k++)
		s->heads[k].addr = 0;
	load_head(s, &s->heads[0], q->next);
	s->phase = PHASE_WALK;
	walk_begin(hook);
	return 1;
}

/* The last frame of a chain: detached, or a thread waits for it. */
static __always_inline int end_chain(struct scratch *s, __u32 hook)
{
	__u64 q_addr = s->frame.root & knobs.addr_mask;
	__u64 walked = root_met(s, s->next_root - 1)->addr;
	__u32 ending = END_STALE;

	if (!q_addr || q_addr & 7 || q_addr == walked ||
	    (s->suspended_cookie && q_addr == s->suspended_cookie)) {
		ending = END_DETACHED;
	} else if (read_root(s, &s->waiting, q_addr) && s->waiting.top == s->node) {
		if (cross(s, hook, &s->waiting, q_addr))
			return 1;
		ending = END_UNREADABLE;
	}
	close_segment(s, SEGMENT_CHAIN, ending, 0);
	s->phase = PHASE_ROOT;
	return 1;
}

/* The text's next bytes, up to its end, as they go into a word. */
static __always_inline bool read_text(__u64 *to, __u64 from)
{
	__u64 bytes = 0, zeroes;

	if (!read_user(&bytes, LABEL_WORD_BYTES, from))
		return false;
	zeroes = (bytes - 0x01010101010101ULL) & ~bytes & 0x80808080808080ULL;
	if (zeroes) /* nothing of what lies behind it */
		bytes &= ((zeroes & -zeroes) >> 7) - 1;
	*to = bytes;
	return true;
}

/* Tells the text of a marker frame of ours; of others nothing is known. */
__noinline int async_emit_label(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct async_label label;
	__u64 bytes;

	if (!s || !read_near(s, &label, sizeof(label), s->node + sizeof(s->frame)))
		return 0;
	label.text &= knobs.addr_mask;
	if (label.tag != ASYNC_LABEL_TAG || label.text & ~FRAME_ADDR_MASK)
		return 0;
	for (int i = 0; i < LABEL_WORDS_MOST; i++) {
		if (!s->chain_left || !read_text(&bytes, label.text) || (!i && !bytes))
			return 0;
		s->chain_left--;
		emit_word(s, (__u64)FRAME_LABEL << FRAME_KIND_SHIFT | bytes);
		if (LABEL_ENDS(bytes))
			return 0;
		label.text += LABEL_WORD_BYTES;
	}
	return 0;
}

static __always_inline bool is_marker(struct scratch *s, __u64 ip)
{
	return ip < ASYNC_CODE_LEAST ||
	       (s->metadata_cookie &&
		(s->frame.ip == s->metadata_cookie || ip == s->metadata_cookie));
}

/* Reads around the node at hand, not beyond its page; false: not readable. */
__noinline int async_load_nodes(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 page_bytes = knobs.page_bytes, page, low, high;

	if (!s)
		return 0;
	page = s->node & ~(page_bytes - 1);
	low = s->node;
	high = s->node + NODE_BYTES;
	if (s->node_before - s->node <= NEAR_BYTES)
		low = high - NODES_BYTES;
	else if (s->node - s->node_before <= NEAR_BYTES)
		high = low + NODES_BYTES;
	if (low < page)
		low = page;
	if (high > page + page_bytes)
		high = page + page_bytes;
	if (high < s->node + sizeof(s->frame)) { /* it lies on two */
		low = s->node;
		high = low + sizeof(s->frame);
	}
	s->chunk_base = low;
	s->chunk_bytes = (high - low) & (CHUNK_BYTES - 1);
	if (read_user(s->chunk, s->chunk_bytes & (CHUNK_BYTES - 1), low))
		return 1;
	s->chunk_bytes = 0;
	return 0;
}

static __always_inline bool read_node(struct scratch *s, __u32 hook)
{
	__u64 offset = s->node - s->chunk_base;

	if (in_chunk(s, s->node, sizeof(s->frame)) == CHUNK_BYTES) {
		if (!async_load_nodes(hook))
			return false;
		offset = s->node - s->chunk_base;
	}
	offset &= CHUNK_BYTES - 1;
	if (offset > CHUNK_BYTES - sizeof(s->frame)) /* verifier: never */
		return false;
	copy_words(s, &s->frame, sizeof(s->frame), offset);
	s->node_before = s->node;
	return true;
}

/* One frame of a chain; N_ENDINGS: there is another. */
static __always_inline __u32 chain_step(struct scratch *s, __u32 hook)
{
	__u64 ip;

	if (s->node & 7 || s->node < 4096 || s->node & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	if (!s->chain_left)
		return END_BUDGET;
	if (goes_in_circles(s, s->node))
		return END_CYCLE;
	if (!FP_GIVES_SP)
		s->asked_at = s->frame.ip;
	if (!read_node(s, hook))
		return END_UNREADABLE;
	s->chain_left--;

	ip = s->frame.ip & knobs.addr_mask;
	if (is_marker(s, ip))
		async_emit_label(hook);
	else if (!(ip & ~FRAME_ADDR_MASK))
		emit_word(s, (__u64)FRAME_ASYNC << FRAME_KIND_SHIFT | ip);
	s->frame.parent &= knobs.addr_mask;
	return N_ENDINGS;
}

int async_walk_chain(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (int i = 0; i < CHAIN_STEPS; i++) {
		__u32 ending = chain_step(s, hook);

		if (ending != N_ENDINGS) {
			close_segment(s, SEGMENT_CHAIN, ending, 0);
			s->phase = PHASE_ROOT;
			return 1;
		}
		if (!s->frame.parent)
			return end_chain(s, hook);
		s->node = s->frame.parent;
	}
	return 1;
}

/* A waiting thread may have woken while its stack was read: then it is no one's. */
int async_end_crossing(__u32 hook, __u32 ending)
{
	struct scratch *s = scratch(hook);
	__u64 top = 0;

	if (!s)
		return 0;
	if (!read_user(&top, sizeof(top), s->waiting_root) ||
	    (top & knobs.addr_mask) != s->waiting_node)
		ending = END_TORN;
	close_segment(s, SEGMENT_THREAD, ending, 0);
	return 0;
}
