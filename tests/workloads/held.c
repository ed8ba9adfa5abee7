/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots registered for somebody else: by a function that has returned while the
 * root, in its caller's frame, is in force. A constructor that isn't inlined does
 * so (libunifex'). The root's frame pointer is that function's, so where it points
 * lies below the stack of whoever holds the root, or in the frame of another
 * function that is called there later.
 *
 *	held itself MS     the holder works
 *	held called MS     functions of the holder's work
 *	held nested MS     one of these holds a root of its own, and works
 *
 * Thread:  main;hold_...;[op;[burn]]
 * Async:   hop_000;hop_001;--;[op;burn]
 */
#include "hops.h"

static struct weft_frame outer_frames[2], inner_frames[2];
static struct weft_frame *outer, *inner;

FN void register_root(struct weft_entry *entry, struct weft_frame *leaf)
{
	weft_root_enter(entry, leaf);
}

FN void burn(void)
{
	spin(240);
}

/* Each call of its own covers what register_root() had covered. */
FN void op(void)
{
	burn();
	AFTER();
}

FN void hold_itself(void)
{
	struct weft_entry entry;

	register_root(&entry, outer);
	for (int i = 0; i < 100; i++)
		spin(240);
	weft_root_leave(&entry);
}

FN void hold_called(void)
{
	struct weft_entry entry;

	register_root(&entry, outer);
	for (int i = 0; i < 100; i++)
		op();
	weft_root_leave(&entry);
}

FN void hold_inner(void)
{
	struct weft_entry entry;

	register_root(&entry, inner);
	for (int i = 0; i < 100; i++) {
		spin(240);
		op();
	}
	weft_root_leave(&entry);
}

FN void hold_outer(void)
{
	struct weft_entry entry;

	register_root(&entry, outer);
	hold_inner();
	weft_root_leave(&entry);
}

int main(int argc, char **argv)
{
	void (*hold)(void) = hold_itself;

	if (argc < 3)
		return work_usage(argv[0], "itself|called|nested MS");
	if (!strcmp(argv[1], "called"))
		hold = hold_called;
	else if (!strcmp(argv[1], "nested"))
		hold = hold_outer;
	work_lifetime(argv[2]);
	outer = hops_chain(outer_frames, 2, 0, NULL);
	inner = hops_chain(inner_frames, 2, 10, NULL);
	work_ready();
	for (;;)
		hold();
}
