/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain with the program's own words in it: on the request, around a part of
 * it, one made at run time that is longer than is shown, and an empty one.
 *
 *	label words MS
 *	label lost MS      the text of the request's label lies where nobody can read it:
 *			   [a label that can't be read] for [GET /users]
 *
 * Async:  hop_000;[GET /users];hop_001;[retry];hop_002;--;step
 *	   hop_000;[GET /users];hop_001;[a label of …];hop_003;--;step
 */
#include "hops.h"

#include <string.h>
#include <sys/mman.h>

static struct weft_frame frames[3];
static struct weft_label request, nothing;

FN void step(void)
{
	spin(360);
}

/* What runs is frames[1], and under it, labelled, a frame pushed for a step. */
FN void labelled_step(struct weft_root *root, const char *text, void *place)
{
	struct weft_frame child;
	struct weft_label label;

	weft_label_push(root, &label, text);
	weft_frame_push(root, &child, place);
	step();
	weft_frame_pop(root, &child);
	weft_label_pop(root, &label);
}

FN void dispatch(long rounds)
{
	char text[] = "a label of 40 bytes, of which 35 are said";
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	while (rounds--) {
		weft_frame_resume(&entry.root, &frames[1]);
		labelled_step(&entry.root, "retry", place_in(hops[2]));
		labelled_step(&entry.root, text, place_in(hops[3]));
		weft_frame_suspend(&entry.root, &frames[1]);
	}
	weft_root_leave(&entry);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return work_usage(argv[0], "words|lost MS");
	work_lifetime(argv[2]);
	hops_chain(frames, 2, 0, NULL);
	weft_frame_label(&frames[1], &request, "GET /users");
	weft_frame_label(&frames[0], &nothing, "");
	if (!strcmp(argv[1], "lost"))
		request.text =
			mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	work_ready();
	dispatch(1L << 60);
	return 2;
}
