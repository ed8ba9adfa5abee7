/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches MS: fibers that do nothing but switch, a million times a second and
 * more, inside fibers that do the same; their stacks come and go, to be mapped
 * at once by others. For a profiler to look at. Beside each other, whatever a
 * sample meets:
 *
 *	main;turn	 main;turn;--;weft_fiber_start_;weft_fiber_main_;outer
 *	main;turn;--;weft_fiber_start_;weft_fiber_main_;outer;
 *		--;weft_fiber_start_;weft_fiber_main_;inner
 */
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/fiber.h>

#include <stdio.h>
#include <time.h>

#define FN __attribute__((noinline))

static struct weft_fiber_pool pool = WEFT_FIBER_POOL_INIT(16384, 1);
static unsigned long switches;

static FN void inner(struct weft_fiber *self, void *arg)
{
	(void)arg;
	for (int i = 0; i < 50; i++) {
		switches += 2;
		weft_fiber_yield(self, NULL);
	}
}

static FN void outer(struct weft_fiber *self, void *arg)
{
	struct weft_fiber *fiber;

	(void)arg;
	for (;;) {
		if (weft_fiber_new(&fiber, &pool, inner, NULL))
			exit(1);
		while (weft_fiber_state(fiber) != WEFT_FIBER_DONE) {
			weft_fiber_resume(fiber, NULL);
			switches += 2;
			weft_fiber_yield(self, NULL);
		}
		weft_fiber_destroy(fiber);
	}
}

static FN void turn(struct weft_fiber **fibers, int n)
{
	for (int i = 0; i < n; i++)
		weft_fiber_resume(fibers[i], NULL);
}

int main(int argc, char **argv)
{
	struct weft_fiber *fibers[8];
	clock_t end =
		clock() + (argc > 1 ? atol(argv[1]) : 100) * (CLOCKS_PER_SEC / 1000);
	unsigned long ms = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	for (int i = 0; i < 8; i++)
		if (weft_fiber_new(&fibers[i], &pool, outer, NULL))
			return 1;
	while (clock() < end)
		for (int i = 0; i < 1000; i++)
			turn(fibers, 8);
	fprintf(stderr, "%lu switches a second of CPU time\n", switches / ms * 1000);
	return 0;
}
