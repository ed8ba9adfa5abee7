/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two readings of one stack. The thread view is what any profiler shows: the
 * stack of the thread. The async view leaves it where an async root sits, goes
 * on along the chain of callers that asked for the work, and comes back where
 * a thread waits for that chain. It has the labels that the program put between
 * callers; unlabelled is the async view without.
 */
#ifndef WEFT_CORE_VIEW_H
#define WEFT_CORE_VIEW_H

#include "core/aggregator.h"
#include "core/names.h"

enum view { VIEW_ASYNC, VIEW_THREAD, VIEW_UNLABELLED };

/* What stands between frame ids in a view. */
#define VIEW_BOUNDARY 0x80000000u /* | enum boundary */
#define VIEW_GAP      0x90000000u /* frames are missing here */
#define VIEW_CUT      0xa0000000u /* rootmost: the stack was not whole */

/* What lies towards the root of a boundary. */
enum boundary {
	BOUNDARY_ASYNC,	 /* async callers: they asked for what follows */
	BOUNDARY_WAITS,	 /* frames of this thread, which waits for what follows */
	BOUNDARY_THREAD, /* frames of another thread, which waits for what follows */
	BOUNDARY_FIBER,	 /* frames on another stack, which resumed what follows */
};

/* Upper bound of what a view of n codes has. */
#define VIEW_ROOM(n) (2 * (n) + 2)

struct view_notes {
	/* from the start of a thread, a fiber or a detached operation to the leaf,
	 * without a gap */
	bool is_complete;
	bool has_gap;
	bool is_suspect;    /* frames were left out since no call leads to them */
	enum ending ending; /* of the view's last stretch */
};

struct view_stack {
	const uint32_t *codes; /* n of them */
	size_t n;
	const struct names *names; /* or NULL */
};

/*
 * Leaf first, into out[VIEW_ROOM(n)]; returns how many. codes may come off a
 * tape: whatever they hold, the reading ends and stays inside.
 *
 * names say what no walk can know: at a thread frame that no call leads to it
 * had lost its way, or come to the end of a stack that was made by hand; what
 * follows is left out up to the next async root, which is a true place again; and
 * a walk that found a frame pointer of 0 has come to a start only if its last
 * function is one. NULL: all is believed.
 */
size_t view_read(const struct view_stack *stack, enum view view, uint32_t *out,
		 struct view_notes *ret_notes);

#endif
