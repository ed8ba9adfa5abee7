// SPDX-License-Identifier: BSD-2-Clause
/* What one stack does: calls, chains, roots in roots, waits. */
#include "program.h"

static volatile int sink;

NOINLINE static int leaf(int n)
{
	return sink + n;
}

NOINLINE static int leaf_of_leaf(int n)
{
	return leaf(n) + leaf(n + 1);
}

NOINLINE static int recurse(int n)
{
	return n ? recurse(n - 1) + leaf(n) : leaf_of_leaf(n);
}

/* Large enough to be stepped over in one read of its own. */
NOINLINE static int wide(int n)
{
	volatile char room[3000];

	room[n] = (char)n;
	return recurse(n) + room[n];
}

/* A tail call, where the compiler makes one. */
NOINLINE static int tail(int n)
{
	return wide(n + 1);
}

NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return leaf(a + b + c + d) + leaf(e + f + g + h);
}

NOINLINE static void calls(void)
{
	int (*volatile through)(int) = tail;

	sink = recurse(6) + through(2) + many(1, 2, 3, 4, 5, 6, 7, 8);
}

static void task_meant(struct task *task, struct task *parent, void *ip)
{
	task->meant.parent = parent ? (uint64_t)&parent->meant : 0;
	task->meant.ip = (uint64_t)ip;
	task->meant.waiter_fp = 0;
}

NOINLINE static void task_make(struct task *task, struct task *parent, void *ip)
{
	task_meant(task, parent, ip);
	weft_frame_init(&task->frame, parent ? &parent->frame : NULL, ip);
}

static inline __attribute__((always_inline)) void run_task(struct task *task)
{
	shadow_arm(SHADOW_RUN, NULL, task);
	weft_frame_resume(weft_root_current(), task ? &task->frame : NULL);
	shadow_disarm();
}

/* Each level is an operation that the one before awaits. */
NOINLINE static void await_deeper(struct task *running, int depth)
{
	struct weft_root *root = weft_root_current();
	struct task task;
	void *ip = WEFT_HERE();

	sink = leaf(depth);
	if (!depth)
		return;
	task_meant(&task, running, ip);
	shadow_arm(SHADOW_RUN, NULL, &task);
	weft_frame_push(root, &task.frame, ip);
	shadow_disarm();
	await_deeper(&task, depth - 1);
	shadow_arm(SHADOW_RUN, NULL, running);
	weft_frame_pop(root, &task.frame);
	shadow_disarm();
}

NOINLINE static void generate(struct task *running)
{
	struct weft_root *root = weft_root_current();
	struct task item;
	void *ip = WEFT_HERE();

	task_meant(&item, running, ip);
	for (int i = 0; i < 4; i++) {
		shadow_arm(SHADOW_RUN, NULL, &item);
		weft_frame_push(root, &item.frame, ip);
		shadow_disarm();
		sink = i;
		shadow_arm(SHADOW_RUN, NULL, running);
		weft_frame_pop(root, &item.frame);
		shadow_disarm();
	}
	shadow_arm(SHADOW_RUN, NULL, NULL);
	weft_frame_suspend(root, &running->frame);
	shadow_disarm();
	sink = leaf(1);
	run_task(running);
}

NOINLINE static void detach(struct task *running)
{
	running->meant.parent = 0;
	shadow_arm(SHADOW_RUN, NULL, running);
	weft_frame_detach(&running->frame);
	weft_frame_detach(&running->frame);
	shadow_disarm();
	sink = leaf(2);
}

NOINLINE static void nothing(struct task *running)
{
	(void)running;
	sink = leaf_of_leaf(1);
}

NOINLINE static void await_three(struct task *running)
{
	await_deeper(running, 3);
}

NOINLINE static void dispatch(struct task *task, void (*callback)(struct task *))
{
	struct weft_entry entry;

	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), task);
	weft_root_enter(&entry, task ? &task->frame : NULL);
	shadow_disarm();
	callback(task);
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
	weft_root_leave(&entry);
	shadow_disarm();
	sink = 3;
}

/* A loop that enters once, and then runs one thing after another. */
NOINLINE static void dispatch_many(struct task *tasks, int n)
{
	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), NULL);
	WEFT_ROOT_SCOPE(NULL);
	shadow_disarm();
	for (int i = 0; i < n; i++) {
		run_task(&tasks[i]);
		await_deeper(&tasks[i], 1);
		run_task(NULL);
		sink = i;
	}
	/* the scope's end, and what the compiler puts behind it */
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
}

NOINLINE static void nested(struct task *running)
{
	struct task tasks[2];

	task_make(&tasks[0], running, WEFT_HERE());
	task_make(&tasks[1], NULL, WEFT_HERE());
	dispatch(&tasks[0], await_three);
	dispatch(NULL, nothing);
	dispatch_many(tasks, 2);
	shadow_disarm();
	dispatch(&tasks[1], generate);
}

NOINLINE static void nested_twice(struct task *running)
{
	struct task task;

	task_make(&task, running, WEFT_HERE());
	dispatch(&task, nested);
}

NOINLINE static void two_roots_in_one(struct task *one, struct task *other)
{
	struct weft_entry first, second;

	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), one);
	weft_root_enter(&first, &one->frame);
	shadow_disarm();
	nothing(one);
	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), other);
	weft_root_enter(&second, &other->frame);
	shadow_disarm();
	await_deeper(other, 2);
	run_task(NULL);
	nothing(other);
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
	weft_root_leave(&second);
	shadow_disarm();
	nothing(one);
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
	weft_root_leave(&first);
	shadow_disarm();
}

/* Stands still for what it dispatches itself, as a nested loop does. */
NOINLINE static void wait_for(struct task *running)
{
	struct weft_wait wait;
	struct task waiting, task;

	(void)running;
	weft_wait_begin(&wait);
	waiting.meant.parent = 0;
	waiting.meant.ip = (uint64_t)__builtin_return_address(0);
	waiting.meant.waiter_fp = (uint64_t)__builtin_frame_address(0);
	task_meant(&task, &waiting, WEFT_HERE());
	weft_frame_init(&task.frame, &wait.frame, (void *)task.meant.ip);
	dispatch(&task, await_three);
	dispatch(&task, nested_twice);
	weft_wait_end(&wait);
}

/*
 * A label is between callers, and no caller: what is meant is the same without.
 * The oracle reads the view that leaves labels out.
 */
NOINLINE static void labelled(struct task *running)
{
	struct weft_root *root = weft_root_current();
	struct weft_label label;

	shadow_arm(SHADOW_RUN, NULL, running);
	weft_label_push(root, &label, "between");
	shadow_disarm();
	await_deeper(running, 2);
	shadow_arm(SHADOW_RUN, NULL, running);
	weft_label_pop(root, &label);
	shadow_disarm();
}

#ifdef FRAME_POINTERS /* without, callers are missing, as the header says */
static struct weft_op queued;
static struct task queued_as[5];

/* Each caller says where it will go on; the op must say the same. */
NOINLINE static void submit(struct task *running)
{
	void *place;

	weft_capture(&queued);
	place = queued.frame.ip;
	queued_as[4].meant.ip = (uint64_t)__builtin_return_address(0);
	queued_as[4].meant.parent = (uint64_t)&queued_as[3].meant;
	queued_as[3].meant.parent = (uint64_t)&queued_as[2].meant;
	queued_as[2].meant.parent = running ? (uint64_t)&running->meant : 0;
	queued_as[0].meant.ip = (uint64_t)place;
	queued_as[0].meant.parent = (uint64_t)&queued_as[4].meant;
	sink = 5;
}

NOINLINE static void submit_for(struct task *running)
{
	queued_as[3].meant.ip = (uint64_t)__builtin_return_address(0);
	submit(running);
	sink = 6;
}

NOINLINE static void submits(struct task *running)
{
	queued_as[2].meant.ip = (uint64_t)__builtin_return_address(0);
	submit_for(running);
	sink = 7;
}

/* The dispatcher's callback: who called it asked for something else. */
NOINLINE static void captured(struct task *running)
{
	submits(running);
	sink = 8;
}

NOINLINE static void run_captured(void)
{
	struct weft_entry entry;

	shadow_arm(SHADOW_ENTER, __builtin_frame_address(0), &queued_as[0]);
	weft_root_enter(&entry, &queued.frame);
	shadow_disarm();
	nothing(NULL);
	shadow_arm(SHADOW_LEAVE, NULL, NULL);
	weft_root_leave(&entry);
	shadow_disarm();
}

#endif

void run_threads(void)
{
	struct task alone, child, awaited;

	calls();
	task_make(&alone, NULL, WEFT_HERE());
	task_make(&child, &alone, WEFT_HERE());
	task_make(&awaited, NULL, WEFT_HERE());
	dispatch(&child, nothing);
	dispatch(&child, await_three);
	dispatch(&child, generate);
	dispatch(&child, nested);
	dispatch(&child, nested_twice);
	two_roots_in_one(&child, &alone);
	wait_for(NULL);
	dispatch(&awaited, wait_for);
	dispatch(&child, labelled);
#ifdef FRAME_POINTERS
	dispatch(&child, captured);
	run_captured();
#endif
	dispatch(&child, detach);
}
