// SPDX-License-Identifier: BSD-2-Clause
/* GNU Pth: two threads of its own that yield to each other. */
#include <pth.h>

static void __attribute__((noinline)) fiber_work(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void *turns(void *arg)
{
	for (;;) {
		fiber_work(200000);
		pth_yield(NULL);
	}
	return arg;
}

int main(void)
{
	pth_init();
	pth_spawn(PTH_ATTR_DEFAULT, turns, NULL);
	pth_join(pth_spawn(PTH_ATTR_DEFAULT, turns, NULL), NULL);
	return 0;
}
