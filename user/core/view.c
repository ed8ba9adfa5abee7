// SPDX-License-Identifier: BSD-2-Clause
#include "core/view.h"

struct viewer {
	const uint32_t *codes;
	size_t n;
	size_t thread, thread_end; /* the thread's codes */
	uint32_t *out;
	size_t n_out, room;
	const struct names *names;
	enum bad_return
		why_skipped; /* frames of this run are left out since one was none */
	bool ever_suspect;
	bool has_gap;
	enum view view;
	uint32_t last; /* thread frame, if has_last; its caller comes next */
	bool has_last;
	bool last_frees;      /* a copy of a stack, or the frame that it called does */
	uint64_t chains_used; /* bit by root: each chain is entered once */
	size_t told;	      /* how much was put with the last frame of a chain */
	uint32_t boundary;    /* to be put before what follows, if anything does; 0 */
};

/* A run of codes to read on in; `told`: its first frame stands already. */
struct code_cursor {
	size_t at, end;
	enum ending ending;
	bool told;
	bool at_bottom; /* of a made stack, as the file says */
};

static void put(struct viewer *r, uint32_t code)
{
	/* where one chain comes back and another leaves, nothing lies between:
	 * there the later boundary is the one */
	if (r->boundary && r->n_out < r->room)
		r->out[r->n_out++] = r->boundary;
	r->boundary = 0;
	if (r->n_out < r->room)
		r->out[r->n_out++] = code;
}

static void put_gap(struct viewer *r)
{
	put(r, VIEW_GAP);
	r->has_gap = true;
}

/* Where the chain of a root is, by its SEGMENT code; 0: it has none. */
static size_t find_chain(const struct viewer *r, uint32_t root)
{
	size_t at = r->thread_end;

	while (at + 1 < r->n && (r->codes[at] & CODE_KIND) == CODE_SEGMENT) {
		if (CODE_SEGKIND(r->codes[at]) == SEGMENT_CHAIN &&
		    CODE_SEGROOT(r->codes[at]) == root)
			return at;
		at += 2 + CODE_COUNT(r->codes[at + 1]);
	}
	return 0;
}

static struct code_cursor segment_cursor(const struct viewer *r, size_t at)
{
	size_t end = at + 2 + CODE_COUNT(r->codes[at + 1]);

	return (struct code_cursor){
		.at = at + 2,
		.end = end < r->n ? end : r->n,
		.ending = CODE_ENDING(r->codes[at]),
	};
}

/* Reads a chain; where to go on, or a cursor that is at its end. */
static struct code_cursor read_chain(struct viewer *r, size_t at)
{
	struct code_cursor chain = segment_cursor(r, at);
	size_t target = r->thread + CODE_TARGET(r->codes[at + 1]);
	struct code_cursor next = { .ending = chain.ending };

	r->boundary = VIEW_BOUNDARY | BOUNDARY_ASYNC;
	r->told = 0;
	r->has_last = false;
	for (size_t i = chain.at; i < chain.end; i++) {
		uint32_t code = r->codes[i];

		if ((code & CODE_KIND) == CODE_FRAME) {
			put(r, code);
			r->told = r->n_out;
		} else if ((code & CODE_KIND) == CODE_LABEL &&
			   r->view != VIEW_UNLABELLED &&
			   (code & ~CODE_KIND) != CODE_LABEL_MORE) {
			put(r, CODE_FRAME | (code & ~CODE_KIND));
		}
	}
	if (chain.ending == END_REJOINED && target <= r->thread_end) {
		next = (struct code_cursor){ .at = target,
					     .end = r->thread_end,
					     .ending = r->codes[STACK_ENDING],
					     .told = true };
		r->boundary = VIEW_BOUNDARY | BOUNDARY_WAITS;
	} else if (chain.ending == END_CROSSED && chain.end + 1 < r->n &&
		   (r->codes[chain.end] & CODE_KIND) == CODE_SEGMENT) {
		next = segment_cursor(r, chain.end);
		next.told = next.ending != END_TORN;
		if (next.told)
			r->boundary = VIEW_BOUNDARY | BOUNDARY_THREAD;
		else /* it may be anybody's */
			next.at = next.end;
	}
	return next;
}

static bool may_enter(struct viewer *r, uint32_t root, size_t *ret_at)
{
	if (r->view == VIEW_THREAD || root >= MAX_ROOTS || r->chains_used >> root & 1)
		return false;
	*ret_at = find_chain(r, root);
	if (!*ret_at)
		return false;
	r->chains_used |= 1ULL << root;
	return true;
}

/* That no call leads to this frame: what does that tell? */
static enum bad_return why_bad(const struct viewer *r, uint32_t code)
{
	enum bad_return bad_return =
		r->names ? names_bad_return(r->names, code) : BAD_RETURN_NONE;

	if (bad_return && r->has_last && names_is_injected(r->names, r->last))
		return BAD_RETURN_NONE;
	/* what it copied from is let go: the stack is whole again */
	if (bad_return == BAD_RETURN_SWITCH && r->last_frees)
		return BAD_RETURN_NONE;
	return bad_return;
}

/* The frame at hand is somebody's callee from now on. */
static void step(struct viewer *r, uint32_t code)
{
	bool frees = r->has_last && r->names && names_is_freeing(r->names, r->last);

	r->last_frees = frees || (r->names && names_is_freeing(r->names, code));
	r->last = code;
	r->has_last = true;
}

static void read_frame(struct viewer *r, struct code_cursor *cursor, uint32_t code)
{
	enum bad_return bad_return = why_bad(r, code);
	uint32_t last = r->last;
	const uint32_t *callee = r->has_last ? &last : NULL;
	bool misled = r->names && callee && names_is_misled(r->names, code, *callee);
	bool told = cursor->told, ends;

	step(r, code);
	cursor->told = false;
	if (r->why_skipped)
		return;
	if (misled && !told) {
		r->why_skipped = BAD_RETURN_MISTAKEN;
		return;
	}
	/* where a runtime makes a stack by hand, its start is no call, and is kept */
	ends = bad_return && names_is_start(r->names, code);
	if (bad_return == BAD_RETURN_SWITCH ||
	    (r->names && names_is_copying(r->names, code, callee))) {
		put(r, code);
		r->why_skipped = BAD_RETURN_SWITCH;
		return;
	}
	if (bad_return && !told && !ends) {
		r->why_skipped = bad_return;
		r->ever_suspect |= bad_return == BAD_RETURN_MISTAKEN;
		return;
	}
	if (!told)
		put(r, code);
	if (cursor->at < cursor->end && r->names &&
	    names_is_return_barrier(r->names, code))
		put_gap(r);
	ends = ends || (r->names && names_is_copied_start(r->names, code));
	if (ends && cursor->at < cursor->end)
		r->why_skipped = BAD_RETURN_BOTTOM;
}

/* Where nobody called: it is shown if its maker gave it a name as a start. What the walk
 * could not read its file says. */
static void read_bottom(struct viewer *r, struct code_cursor *cursor, uint32_t frame)
{
	bool told = cursor->told;

	cursor->told = false;
	if (!r->names || r->why_skipped)
		return;
	cursor->at_bottom = names_bad_return(r->names, frame) == BAD_RETURN_BOTTOM;
	if (cursor->ending == END_UNREADABLE && cursor->at == cursor->end &&
	    cursor->at_bottom)
		cursor->ending = END_FIBER;
	if (!told && cursor->ending == END_FIBER && names_is_start(r->names, frame))
		put(r, frame);
}

/* What follows is on another stack, and resumed what was shown before. Of a stack that
 * waits, whoever resumed it last may not be there any more. */
static void cross_to_resumer(struct viewer *r, const struct code_cursor *cursor)
{
	if (r->view != VIEW_THREAD && r->n_out && cursor->end == r->thread_end)
		r->boundary = VIEW_BOUNDARY | BOUNDARY_FIBER;
}

/* A root's place is known whatever the walk did before. */
static void end_doubt(struct viewer *r, const struct code_cursor *cursor)
{
	if (r->why_skipped == BAD_RETURN_BOTTOM)
		cross_to_resumer(r, cursor);
	if (r->why_skipped)
		put_gap(r);
	r->why_skipped = BAD_RETURN_NONE;
}

/* Where to go on: here, or the chain that leaves here. Whose root it is then is left out,
 * even if that has called who waits, and so was told. */
static struct code_cursor read_root(struct viewer *r, struct code_cursor cursor,
				    uint32_t root)
{
	size_t chain;

	end_doubt(r, &cursor);
	if (root == ROOT_UNFOLLOWED && r->view != VIEW_THREAD)
		put_gap(r);
	if (!may_enter(r, root, &chain))
		return cursor;
	r->n_out -= cursor.told && r->n_out && r->told == r->n_out;
	return read_chain(r, chain);
}

/* What follows is from a root. */
static void read_gap(struct viewer *r, struct code_cursor *cursor, enum ending ending)
{
	if (ending == END_FIBER || (ending == END_UNREADABLE && cursor->at_bottom))
		cross_to_resumer(r, cursor);
	cursor->at_bottom = false;
	r->why_skipped = BAD_RETURN_NONE;
	r->has_last = false;
	put_gap(r);
	cursor->told = false; /* the frame that was is the one missing */
}

static enum ending read_codes(struct viewer *r, struct code_cursor cursor)
{
	static const enum ending endings[N_BAD_RETURNS] = {
		[BAD_RETURN_MISTAKEN] = END_BROKEN,
		[BAD_RETURN_BOTTOM] = END_FIBER,
		[BAD_RETURN_SWITCH] = END_TORN,
	};

	while (cursor.at < cursor.end) {
		uint32_t code = r->codes[cursor.at++];

		switch (code & CODE_KIND) {
		case CODE_ROOT:
			cursor = read_root(r, cursor, code & ~CODE_KIND);
			break;
		case CODE_GAP:
			read_gap(r, &cursor, (enum ending)(code & ~CODE_KIND));
			break;
		case CODE_RESUMER:
			if (!cursor.told && !r->why_skipped)
				cross_to_resumer(r, &cursor);
			read_frame(r, &cursor, code & ~CODE_KIND);
			break;
		case CODE_FRAME:
			read_frame(r, &cursor, code);
			break;
		case CODE_BOTTOM:
			read_bottom(r, &cursor, code & ~CODE_KIND);
			break;
		default:
			return END_TORN;
		}
	}
	return r->why_skipped ? endings[r->why_skipped] : cursor.ending;
}

/* Where a runtime made the stack, that is no thread's start. */
static enum ending name_ending(const struct viewer *r, enum ending ending)
{
	bool is_made = ending == END_FP_ZERO && r->names && r->n_out &&
		       names_is_made_start(r->names, r->out[r->n_out - 1]);

	return is_made ? END_FIBER : ending;
}

/* A frame pointer of 0 may be any register's; a start has a name. */
static bool is_at_start(const struct viewer *r, enum ending ending)
{
	if (ending != END_FP_ZERO)
		return ending == END_START || ending == END_DETACHED ||
		       ending == END_FIBER;
	return !r->names || (r->n_out && names_is_start(r->names, r->out[r->n_out - 1]));
}

size_t view_read(const struct view_stack *stack, enum view view, uint32_t *out,
		 struct view_notes *ret_notes)
{
	const uint32_t *codes = stack->codes;
	size_t n = stack->n;
	struct viewer r = { .codes = codes,
			    .n = n,
			    .names = stack->names,
			    .out = out,
			    .room = VIEW_ROOM(n),
			    .view = view };
	struct code_cursor thread;
	bool at_start;

	*ret_notes = (struct view_notes){ .ending = END_NO_USER };
	if (n < STACK_HEAD)
		return 0;
	r.thread = STACK_HEAD + (size_t)codes[STACK_KERNEL];
	r.thread_end = r.thread + codes[STACK_THREAD];
	if (r.thread_end > n)
		return 0;
	for (size_t i = STACK_HEAD; i < r.thread; i++) {
		if ((codes[i] & CODE_KIND) == CODE_FRAME)
			put(&r, codes[i]);
		else
			put_gap(&r);
	}
	thread = (struct code_cursor){ .at = r.thread,
				       .end = r.thread_end,
				       .ending = codes[STACK_ENDING] };
	ret_notes->ending = name_ending(&r, read_codes(&r, thread));
	at_start = is_at_start(&r, ret_notes->ending);
	ret_notes->is_complete = at_start && !r.has_gap;
	ret_notes->has_gap = r.has_gap;
	ret_notes->is_suspect = r.ever_suspect;
	if (!at_start && ret_notes->ending != END_NO_USER)
		put(&r, VIEW_CUT);
	return r.n_out;
}
