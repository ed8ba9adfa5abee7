/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain stacks.
 *
 *	nest plain MS      main;level_1;...;level_5;{burn_heavy 3 : burn_light 1}
 *	nest deep MS N     main;deep x N;{burn_heavy 3 : burn_light 1}
 *	nest tiny MS       leaves of one to five instructions, without and with a
 *	                   frame, that do nothing but return
 */
#include "leaves.h"
#include "work.h"

FN void burn_heavy(void)
{
	spin(360);
}

FN void burn_light(void)
{
	spin(120);
}

FN void level_5(void)
{
	burn_heavy();
	burn_light();
	AFTER();
}

FN void level_4(void)
{
	level_5();
	AFTER();
}

FN void level_3(void)
{
	level_4();
	AFTER();
}

FN void level_2(void)
{
	level_3();
	AFTER();
}

FN void level_1(void)
{
	level_2();
	AFTER();
}

/* meant: the last one burns for ever */
#pragma GCC diagnostic ignored "-Winfinite-recursion"
FN void deep(long n)
{
	if (n > 1)
		deep(n - 1);
	else
		for (;;) {
			burn_heavy();
			burn_light();
		}
	AFTER();
}

FN void tiny_loop(void)
{
	for (;;) {
		leaf_1();
		leaf_2();
		leaf_3();
		leaf_4();
		leaf_5();
		leaf_frame_4();
		leaf_frame_5();
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	if (argc > 2)
		work_lifetime(argv[2]);
	work_ready();
	if (!strcmp(mode, "deep") && argc > 3)
		deep(atol(argv[3]));
	else if (!strcmp(mode, "tiny"))
		tiny_loop();
	else if (!strcmp(mode, "plain"))
		for (;;)
			level_1();
	return work_usage(argv[0], "plain MS | deep MS DEPTH | tiny MS");
}
