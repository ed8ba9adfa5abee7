/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One function that waits, within an operation that it runs, for another operation,
 * LEVELS deep: what nested blocking waits come to. Each level has a root.
 *
 *	levels MS LEVELS
 *
 * Thread:  main;drive;loop;op;drive;loop;op;...;burn
 * Async:   main;drive;hop_000;hop_001;--;op;drive;hop_000;hop_001;--;op;...;burn
 */
#include "hops.h"

#define LEVELS_MAX 100

static int levels;

static void drive(int level);

FN void burn(void)
{
	spin(240);
}

FN void op(int level)
{
	if (level < levels) {
		drive(level + 1);
	} else {
		work_ready();
		for (;;)
			burn();
	}
	AFTER();
}

FN void loop(int level, struct weft_frame *waits)
{
	struct weft_frame frames[2];
	struct weft_entry entry;

	weft_root_enter(&entry, hops_chain(frames, 2, 0, waits));
	op(level);
	weft_root_leave(&entry);
}

FN void drive(int level)
{
	struct weft_frame asked;
	struct weft_wait wait;

	weft_wait_begin(&wait);
	weft_frame_init(&asked, &wait.frame, WEFT_HERE());
	loop(level, &asked);
	weft_wait_end(&wait);
	AFTER();
}

int main(int argc, char **argv)
{
	levels = argc > 2 ? atoi(argv[2]) : 0;
	if (levels < 1 || levels > LEVELS_MAX)
		return work_usage(argv[0], "MS LEVELS");
	work_lifetime(argv[1]);
	drive(1);
	return 2;
}
