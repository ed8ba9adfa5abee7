// SPDX-License-Identifier: BSD-2-Clause
/*
 * Four stacks, each resumed from the one before, in all orders of their
 * addresses; those of the round's bits have a root. One suspends and is resumed
 * again while the others stand.
 */
#include "program.h"

static struct weft_fiber *fibers[SHADOW_STACKS];
static int round_number;
static volatile int sink;

static void go_deeper(int level);

NOINLINE static void push_and_pop(struct task *running)
{
	struct weft_root *root = weft_root_current();
	struct task task;
	void *ip = WEFT_HERE();

	if (!root)
		return;
	task.meant.parent = running ? (uint64_t)&running->meant : 0;
	task.meant.ip = (uint64_t)ip;
	task.meant.waiter_fp = 0;
	shadow_arm(SHADOW_RUN, NULL, &task);
	weft_frame_push(root, &task.frame, ip);
	shadow_disarm();
	sink = 1;
	shadow_arm(SHADOW_RUN, NULL, running);
	weft_frame_pop(root, &task.frame);
	shadow_disarm();
}

NOINLINE static void in_root(int level)
{
	struct weft_entry entry;
	struct task task;

	task.meant.parent = task.meant.waiter_fp = 0;
	task.meant.ip = (uint64_t)WEFT_HERE();
	weft_frame_init(&task.frame, NULL, (void *)task.meant.ip);
	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), &task);
	weft_root_enter(&entry, &task.frame);
	shadow_disarm();
	push_and_pop(&task);
	go_deeper(level);
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
	weft_root_leave(&entry);
	shadow_disarm();
}

NOINLINE static void on_stack(int level)
{
	if (round_number >> level & 1)
		in_root(level);
	else
		go_deeper(level);
	sink = level;
}

NOINLINE static void fiber_body(struct weft_fiber *self, int level)
{
	for (;;) {
		on_stack(level);
		weft_fiber_yield(self, NULL);
	}
}

static void fiber_0(struct weft_fiber *self, void *arg)
{
	(void)arg;
	fiber_body(self, 0);
}

static void fiber_1(struct weft_fiber *self, void *arg)
{
	(void)arg;
	fiber_body(self, 1);
}

static void fiber_2(struct weft_fiber *self, void *arg)
{
	(void)arg;
	fiber_body(self, 2);
}

static void fiber_3(struct weft_fiber *self, void *arg)
{
	(void)arg;
	fiber_body(self, 3);
}

NOINLINE static void go_deeper(int level)
{
	if (level + 1 == SHADOW_STACKS) {
		sink = level;
		return;
	}
	weft_fiber_resume(fibers[level + 1], NULL);
	if (level == 1)
		weft_fiber_resume(fibers[level + 1], NULL);
}

/* The n-th order of the four. */
NOINLINE static void make_all(int n)
{
	static weft_fiber_entry *const entries[] = { fiber_0, fiber_1, fiber_2, fiber_3 };
	int left[SHADOW_STACKS] = { 0, 1, 2, 3 };

	for (int i = 0; i < SHADOW_STACKS; i++) {
		int many = SHADOW_STACKS - i, at = n % many;

		n /= many;
		fibers[i] = fiber_make(left[at], entries[i]);
		for (int k = at; k + 1 < many; k++)
			left[k] = left[k + 1];
	}
}

void run_fibers(void)
{
	for (round_number = 0; round_number < 24; round_number++) {
		make_all(round_number);
		weft_fiber_resume(fibers[0], NULL);
	}
}
