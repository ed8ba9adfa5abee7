/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four threads that take turns, so that their shares are those of the work they
 * do in a turn, whatever the scheduler thinks: 4 : 3 : 2 : 1.
 *
 *	threads MS
 *
 *	work_a;do_a  work_b;do_b  work_c;do_c  work_d;do_d
 */
#include "work.h"

static struct turn turn;

/* of this round: a turn is well above what handing it on costs */
static unsigned int unit;

FN void do_a(void)
{
	spin_exactly(4UL * unit);
}

FN void do_b(void)
{
	spin_exactly(3UL * unit);
}

FN void do_c(void)
{
	spin_exactly(2UL * unit);
}

FN void do_d(void)
{
	spin_exactly(1UL * unit);
}

#define WORKER(letter, number)                                                           \
	FN void *work_##letter(void *arg)                                                \
	{                                                                                \
		for (;;) {                                                               \
			turn_wait(&turn, number);                                        \
			if (!number)                                                     \
				unit = uneven() * 240;                                   \
			do_##letter();                                                   \
			turn_give(&turn, (number + 1) % 4);                              \
		}                                                                        \
		return arg;                                                              \
	}

WORKER(a, 0)
WORKER(b, 1)
WORKER(c, 2)
WORKER(d, 3)

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage(argv[0], "MS");
	work_lifetime(argv[1]);
	work_one_cpu();
	work_thread(work_a, NULL);
	work_thread(work_b, NULL);
	work_thread(work_c, NULL);
	work_thread(work_d, NULL);
	work_ready();
	park();
	return 0;
}
