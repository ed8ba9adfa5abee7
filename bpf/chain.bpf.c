// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Chains: what a thread's stack doesn't say about who asked for the work. Everything
 * read here lies in the process's own memory and may be garbage; the worst that it can
 * do is to end its own chain with a true word about why.
 */
#include "chain.bpf.h"
#include "chunk.bpf.h"

/*
 * How much to read where a chain goes on. Of a node that lies elsewhere what a wait has
 * beside it, its root: it goes beside the chunk, which keeps the nodes that lie near each
 * other, since the next chain mostly goes on behind them. Behind a short step, since
 * operations that were begun one after another mostly lie so, a few of its callers, too,
 * on the side where it went; and of those that go on so, what is left of the page.
 */
#define NEAR_BYTES  1024
#define NODES_BYTES 2048

/* Where chain_step() stops, beside the endings of walks. */
enum { CHAIN_UNREAD = STEP_OK + 1, CHAIN_MARKER, CHAIN_LAST };

/* Does the async view lead along the chain of root k? It does along the first, and then
 * where that leads. */
static __always_inline void follow_view(struct scratch *s, __u32 k)
{
	s->in_view = s->view_at <= found_root(s, k)->mark;
	if (s->in_view)
		s->view_at = VIEW_NOWHERE;
}

int chain_open(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u32 k;

	if (!s)
		return PHASE_DONE;
	k = s->next_root;
	if (k >= s->n_roots || k >= MAX_ROOTS)
		return PHASE_DONE;
	s->next_root = k + 1;
	s->node = found_root(s, k)->top;
	if (!s->node) /* the dispatcher runs no operation */
		return PHASE_ROOT;
	s->rec.flags |= SAMPLE_ASYNC;
	if (wants_context())
		follow_view(s, k);
	s->frame.ip = 0;
	start_cycle_test(s);
	open_segment(s);
	return PHASE_CHAIN;
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
__noinline int chain_emit_label(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct async_label label;
	__u64 bytes;

	if (!s || !read_near(s, &label, sizeof(label), s->node + sizeof(s->frame)))
		return 0;
	label.text &= knobs.addr_mask;
	if (wants_context() && label.tag == ASYNC_CONTEXT_TAG && s->in_view &&
	    !s->chains_context)
		s->chains_context = label.text;
	if (label.tag != ASYNC_LABEL_TAG)
		return 0;
	for (int i = 0; i < LABEL_WORDS_MAX; i++) {
		if (label.text & ~FRAME_ADDR_MASK || !read_text(&bytes, label.text))
			bytes = LABEL_UNREADABLE;
		if (!s->chain_left || (!i && !bytes))
			return 0;
		s->chain_left--;
		emit_word(s, (__u64)FRAME_LABEL << FRAME_KIND_SHIFT | bytes);
		if (LABEL_ENDS(bytes))
			return 0;
		label.text += LABEL_WORD_BYTES;
	}
	return 0;
}

static __always_inline bool is_marker(const struct scratch *s, __u64 raw, __u64 ip)
{
	return ip < ASYNC_CODE_MIN || (s->metadata_cookie && (raw == s->metadata_cookie ||
							      ip == s->metadata_cookie));
}

static __always_inline bool is_beside(struct scratch *s)
{
	return in_beside(s, s->node, sizeof(s->frame)) < sizeof(s->chunk);
}

/* Was a node read that lies near the one at hand? The last one of the chunk leads on
 * where another, beside it, does not. */
static __always_inline __u64 near_node(struct scratch *s)
{
	if (s->node_before - s->node + NEAR_BYTES <= 2 * NEAR_BYTES)
		return s->node_before;
	if (s->node_near - s->node + NEAR_BYTES <= 2 * NEAR_BYTES)
		return s->node_near;
	return 0;
}

static __always_inline bool load_beside(struct scratch *s, __u32 bytes)
{
	s->beside_base = s->node;
	s->beside_bytes = bytes;
	if (read_user(s->chunk + CHUNK_BYTES, bytes & (2 * BESIDE_BYTES - 1), s->node))
		return true;
	s->beside_bytes = 0;
	return false;
}

/* Reads around the node at hand if it was not read, not beyond its page; 0: not
 * readable. */
int chain_load_nodes(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u64 page_bytes = knobs.page_bytes, near, page, low, high, want = NODES_BYTES;

	if (!s)
		return 0;
	if (is_beside(s) || in_chunk(s, s->node, sizeof(s->frame)) < CHUNK_BYTES)
		return 1;
	if (in_chunk(s, s->node_before, sizeof(s->frame)) < CHUNK_BYTES)
		s->node_near = s->node_before;
	near = near_node(s);
	page = s->node & ~(page_bytes - 1);
	if (s->node + sizeof(s->frame) > page + page_bytes) /* it lies on two */
		return load_beside(s, sizeof(s->frame));
	low = s->node;
	high = low + BESIDE_BYTES;
	if (high > page + page_bytes)
		high = page + page_bytes;
	if (!near)
		return load_beside(s, high - low);
	if (near == s->node_near)
		want = CHUNK_BYTES - 8;
	if (near > low)
		low = high - want;
	else
		high = low + want;
	if (low < page)
		low = page;
	if (high > page + page_bytes)
		high = page + page_bytes;
	s->chunk_base = low;
	s->chunk_bytes = (high - low) & (CHUNK_BYTES - 1);
	if (read_user(s->chunk, s->chunk_bytes & (CHUNK_BYTES - 1), low))
		return 1;
	s->chunk_bytes = 0;
	return 0;
}

/* What was read together, and where that lies. */
struct node_window {
	__u64 base;
	__u32 bytes, at;
};

/* The one that the node at hand may lie in. verifier: it does not know where that is, or
 * there were two ways along the nodes */
static __always_inline struct node_window window_at_hand(struct scratch *s)
{
	bool beside = is_beside(s);

	s->window_at = beside ? CHUNK_BYTES : 0;
	REREAD();
	if (beside)
		return (struct node_window){ s->beside_base, s->beside_bytes,
					     s->window_at };
	return (struct node_window){ s->chunk_base, s->chunk_bytes, s->window_at };
}

/* The node at hand; 0: it is not there. */
static __always_inline const struct async_frame *node_in(struct scratch *s,
							 const struct node_window *window)
{
	__u64 offset = s->node - window->base;

	if (window->bytes < sizeof(s->frame) || offset > window->bytes - sizeof(s->frame))
		return 0;
	offset = (offset & (CHUNK_BYTES - 1)) + window->at;
	if (offset > sizeof(s->chunk) - sizeof(s->frame)) /* verifier: never */
		return 0;
	return (const void *)(s->chunk + offset);
}

/* Past the node at hand; STEP_OK: there is another. */
static __always_inline __u32 chain_step(struct scratch *s,
					const struct node_window *window)
{
	const struct async_frame *frame;
	__u64 node = s->node, parent, raw, ip;

	if (node & 7 || node < 4096 || node & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	if (!s->chain_left)
		return END_BUDGET;
	frame = node_in(s, window);
	if (!frame)
		return CHAIN_UNREAD;
	if (cycle_found(s, node))
		return END_CYCLE;
	s->chain_left--;
	if (!FP_GIVES_SP)
		s->resume_ip = s->frame.ip;
	parent = frame->parent & knobs.addr_mask;
	s->frame.parent = parent;
	raw = frame->ip;
	ip = raw & knobs.addr_mask;
	s->frame.ip = raw;
	s->node_before = node;
	if (is_marker(s, raw, ip)) {
		s->frame.root = frame->root;
		return CHAIN_MARKER;
	}
	if (!(ip & ~FRAME_ADDR_MASK))
		emit_word(s, (__u64)FRAME_ASYNC << FRAME_KIND_SHIFT | ip);
	if (!parent) {
		s->frame.root = frame->root;
		return CHAIN_LAST;
	}
	s->node = parent;
	return STEP_OK;
}

/* Along nodes that were read, without a call, and then reads where they lead. */
__noinline int chain_follow(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	__u32 why = STEP_OK;
	struct node_window window;

	if (!s)
		return END_BROKEN;
	window = window_at_hand(s);
	for (int i = 0; i < CHAIN_STEPS && why == STEP_OK; i++)
		why = chain_step(s, &window);
	if (why != CHAIN_UNREAD)
		return why;
	return chain_load_nodes(hook) ? STEP_OK : END_UNREADABLE;
}

/* Over a marker, whose text is told; CHAIN_LAST: it was the last. */
static __always_inline __u32 pass_marker(struct scratch *s, __u32 hook)
{
	chain_emit_label(hook);
	if (!s->frame.parent)
		return CHAIN_LAST;
	s->node = s->frame.parent;
	return STEP_OK;
}

/* Where chain_follow() has stopped; 0: the chain ends there. verifier: a function, since
 * a loop would multiply its ways */
__noinline int chain_go_on(__u32 hook, __u32 why)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return 0;
	if (why == CHAIN_MARKER)
		why = pass_marker(s, hook);
	if (why == STEP_OK)
		return 1;
	s->phase = PHASE_CHAIN_END;
	if (why != CHAIN_LAST) {
		close_segment(s, SEGMENT_CHAIN, why, 0);
		s->phase = PHASE_ROOT;
	}
	return 0;
}

int chain_walk(__u32 hook)
{
	__u32 why, goes_on;

	for (int i = 0; i <= CHAIN_STEPS; i++) {
		why = chain_follow(hook);
		goes_on = why == STEP_OK || chain_go_on(hook, why);
		/* verifier: 5.10 and 6.1 want a loop entered at its head, so it has one
		 * way round */
		KEEP(goes_on);
		if (!goes_on)
			break;
	}
	return 1;
}
