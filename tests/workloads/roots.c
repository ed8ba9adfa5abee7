/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dispatchers inside operations of dispatchers, LEVELS deep (2 to 5). Each
 * operation but the last runs a dispatcher of its own.
 *
 *	roots detached MS LEVELS     the innermost chain has nobody below it
 *	roots driven MS LEVELS       each operation waits for the chain that its
 *	                             own dispatcher drives, on the same thread
 *	roots clear MS LEVELS        only the outermost root runs an operation; the
 *	                             others are transparent
 *
 * Thread:  main;loop_1;op_1;drive_2;loop_2;op_2;...;op_N;burn
 */
#include "hops.h"

#define LEVELS 5

static int levels;
static enum { DETACHED, DRIVEN, CLEAR } mode;

FN void burn(void)
{
	spin(240);
}

/* the frames of level n go on in hop n0 and n1 */
#define LEVEL(n, below)                                                                  \
	FN void op_##n(void)                                                             \
	{                                                                                \
		if (n == levels)                                                         \
			for (int i = 0; i < 100; i++)                                    \
				burn();                                                  \
		else                                                                     \
			below;                                                           \
		AFTER();                                                                 \
	}                                                                                \
                                                                                         \
	FN void loop_##n(struct weft_frame *waits)                                       \
	{                                                                                \
		struct weft_frame frames[2], *leaf;                                      \
		struct weft_entry entry;                                                 \
                                                                                         \
		leaf = hops_chain(frames, 2, n * 10, waits);                             \
		weft_root_enter(&entry, mode == CLEAR && n > 1 ? NULL : leaf);           \
		op_##n();                                                                \
		weft_root_leave(&entry);                                                 \
	}                                                                                \
                                                                                         \
	FN void drive_##n(void)                                                          \
	{                                                                                \
		struct weft_frame asked;                                                 \
		struct weft_wait wait;                                                   \
                                                                                         \
		if (mode == DRIVEN) {                                                    \
			weft_wait_begin(&wait);                                          \
			weft_frame_init(&asked, &wait.frame, WEFT_HERE());               \
			loop_##n(&asked);                                                \
			weft_wait_end(&wait);                                            \
		} else {                                                                 \
			loop_##n(NULL);                                                  \
		}                                                                        \
		AFTER();                                                                 \
	}

LEVEL(5, (void)0)
LEVEL(4, drive_5())
LEVEL(3, drive_4())
LEVEL(2, drive_3())
LEVEL(1, drive_2())

int main(int argc, char **argv)
{
	static const char *const names[] = { "detached", "driven", "clear" };

	levels = argc > 3 ? atoi(argv[3]) : 0;
	if (levels < 2 || levels > LEVELS)
		return work_usage(argv[0], "detached|driven|clear MS LEVELS");
	for (int i = 0; i < 3; i++)
		if (!strcmp(argv[1], names[i]))
			mode = i;
	work_lifetime(argv[2]);
	work_ready();
	for (;;)
		drive_1();
}
