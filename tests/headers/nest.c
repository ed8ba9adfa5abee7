/* SPDX-License-Identifier: BSD-2-Clause */
/* A fiber inside a fiber, for a debugger to look at from the leaf. */
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/fiber.h>

#define NOINLINE __attribute__((noinline))

void leaf(void);
static volatile int sink;

NOINLINE void leaf(void)
{
	sink = 1;
}

NOINLINE static void inner(struct weft_fiber *self, void *arg)
{
	(void)weft_fiber_yield(self, arg);
	leaf();
	sink = 2;
}

NOINLINE static void outer(struct weft_fiber *self, void *arg)
{
	(void)self;
	(void)weft_fiber_resume((struct weft_fiber *)arg, NULL);
	sink = 3;
}

NOINLINE static void dispatch(struct weft_fiber *one, struct weft_fiber *other)
{
	(void)weft_fiber_resume(other, NULL);
	(void)weft_fiber_resume(one, NULL);
	sink = 4;
}

int main(void)
{
	struct weft_fiber *one, *other;

	if (weft_fiber_new(&other, NULL, inner, NULL) ||
	    weft_fiber_new(&one, NULL, outer, other))
		return 1;
	dispatch(one, other);
	sink = 5;
	return 0;
}
