// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Chains: what a thread's stack doesn't say about who asked for the work. Everything
 * read here lies in the process's own memory and may be garbage; the worst that it can
 * do is to end its own chain with a true word about why.
 */
#include "chain.bpf.h"
#include "chunk.bpf.h"

/*
 * How much to read where a chain goes on: of a node that lies elsewhere what a wait
 * has beside it, its root; behind a short step, since operations that were begun one
 * after another mostly lie so, a few of its callers, too, on the side where it went.
 */
#define NODE_BYTES  64
#define NEAR_BYTES  1024
#define NODES_BYTES 2048

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
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (int i = 0; i < MAX_ROOTS; i++) {
		__u32 k = s->next_root;

		if (k >= s->n_roots || k >= MAX_ROOTS)
			return 0;
		s->next_root = k + 1;
		s->node = found_root(s, k)->top;
		if (!s->node) /* the dispatcher runs no operation */
			continue;
		s->rec.flags |= SAMPLE_ASYNC;
		if (wants_context())
			follow_view(s, k);
		s->frame.ip = 0;
		s->node_before = 0;
		start_cycle_test(s);
		open_segment(s);
		return 1;
	}
	return 0;
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
	struct scratch *s = scratch(hook);
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

static __always_inline bool is_marker(struct scratch *s, __u64 ip)
{
	return ip < ASYNC_CODE_MIN ||
	       (s->metadata_cookie &&
		(s->frame.ip == s->metadata_cookie || ip == s->metadata_cookie));
}

/* Reads around the node at hand, not beyond its page; false: not readable. */
__noinline int chain_load_nodes(__u32 hook)
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
		if (!chain_load_nodes(hook))
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

/* One frame of a chain; STEP_OK: there is another. */
static __always_inline __u32 chain_step(struct scratch *s, __u32 hook)
{
	__u64 ip;

	if (s->node & 7 || s->node < 4096 || s->node & ~FRAME_ADDR_MASK)
		return END_BROKEN;
	if (!s->chain_left)
		return END_BUDGET;
	if (cycle_found(s, s->node))
		return END_CYCLE;
	if (!FP_GIVES_SP)
		s->resume_ip = s->frame.ip;
	if (!read_node(s, hook))
		return END_UNREADABLE;
	s->chain_left--;

	ip = s->frame.ip & knobs.addr_mask;
	if (is_marker(s, ip))
		chain_emit_label(hook);
	else if (!(ip & ~FRAME_ADDR_MASK))
		emit_word(s, (__u64)FRAME_ASYNC << FRAME_KIND_SHIFT | ip);
	s->frame.parent &= knobs.addr_mask;
	return STEP_OK;
}

int chain_walk(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (int i = 0; i < CHAIN_STEPS; i++) {
		__u32 ending = chain_step(s, hook);

		if (ending != STEP_OK) {
			close_segment(s, SEGMENT_CHAIN, ending, 0);
			s->phase = PHASE_ROOT;
			return 1;
		}
		if (!s->frame.parent) {
			s->phase = PHASE_CHAIN_END;
			return 1;
		}
		s->node = s->frame.parent;
	}
	return 1;
}
