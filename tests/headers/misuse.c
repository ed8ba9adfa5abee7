/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * misuse CASE        misuses the headers in one way; without -DWEFT_CHECKS that
 *                    does nothing and the status is 0
 * misuse             prints each case and the sentence it ends with under checks
 */
#define WEFT_REGISTRY
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/fiber.h>

#include <stdio.h>
#include <string.h>

static struct weft_entry entry = WEFT_ENTRY_INIT, other = WEFT_ENTRY_INIT;
static struct weft_frame frame, above;
static struct weft_label label;
static struct weft_leaf leaf;
static struct weft_wait waits;
static struct weft_fiber *fiber;

static void leave_without_enter(void)
{
	weft_root_enter(&other, NULL);
	weft_root_leave(&entry);
	weft_root_leave(&other);
}

static void leave_twice(void)
{
	weft_root_enter(&entry, NULL);
	weft_root_leave(&entry);
	weft_root_leave(&entry);
}

static void leave_outer_first(void)
{
	weft_root_enter(&entry, NULL);
	weft_root_enter(&other, NULL);
	weft_root_leave(&entry);
	weft_root_leave(&other);
}

static void enter_twice(void)
{
	weft_root_enter(&entry, NULL);
	weft_root_enter(&entry, NULL);
	weft_root_leave(&entry);
}

static void pop_below_top(void)
{
	weft_root_enter(&entry, NULL);
	weft_frame_push(&entry.root, &frame, WEFT_HERE());
	weft_frame_push(&entry.root, &above, WEFT_HERE());
	weft_frame_pop(&entry.root, &frame);
	weft_frame_pop(&entry.root, &above);
	weft_frame_pop(&entry.root, &frame);
	weft_root_leave(&entry);
}

__attribute__((noinline)) static void push_a_step(void)
{
	struct weft_frame step;

	weft_frame_push(weft_root_current(), &step, WEFT_HERE());
	__asm__ volatile("" ::"r"(&step) : "memory");
}

static void leave_without_pop(void)
{
	weft_root_enter(&entry, NULL);
	push_a_step();
	weft_root_leave(&entry);
}

static void push_twice(void)
{
	weft_root_enter(&entry, NULL);
	weft_frame_push(&entry.root, &frame, WEFT_HERE());
	weft_frame_push(&entry.root, &frame, WEFT_HERE());
	weft_root_leave(&entry);
}

static void suspend_what_waits(void)
{
	weft_root_enter(&entry, NULL);
	weft_frame_suspend(&entry.root, &frame);
	weft_root_leave(&entry);
}

static void resume_over_another(void)
{
	weft_root_enter(&entry, &above);
	weft_frame_resume(&entry.root, &frame);
	weft_root_leave(&entry);
}

static void detach_twice(void)
{
	weft_frame_init(&frame, &above, WEFT_HERE());
	weft_frame_detach(&frame);
	weft_frame_detach(&frame);
}

static void wait_ends_twice(void)
{
	weft_wait_begin(&waits);
	weft_wait_end(&waits);
	weft_wait_end(&waits);
}

static void unlabel_unlabelled(void)
{
	weft_frame_init(&frame, NULL, WEFT_HERE());
	weft_frame_unlabel(&frame, &label);
}

static void run_below_a_popped_label(void)
{
	weft_root_enter(&entry, NULL);
	weft_label_push(&entry.root, &label, "part");
	weft_frame_init(&frame, weft_frame_current(), WEFT_HERE());
	weft_label_pop(&entry.root, &label);
	weft_root_leave(&entry);
	weft_root_enter(&entry, &frame);
	weft_root_leave(&entry);
}

static void resume_below_a_popped_label(void)
{
	weft_root_enter(&entry, NULL);
	weft_label_push(&entry.root, &label, "part");
	weft_frame_init(&frame, weft_frame_current(), WEFT_HERE());
	weft_label_pop(&entry.root, &label);
	weft_frame_resume(&entry.root, &frame);
	weft_root_leave(&entry);
}

static void list_twice(void)
{
	weft_leaf_add(&leaf, &frame);
	weft_leaf_add(&leaf, &frame);
	weft_leaf_remove(&leaf);
	weft_leaf_remove(&leaf);
}

static void resumes_itself(struct weft_fiber *self, void *arg)
{
	(void)arg;
	(void)weft_fiber_resume(self, NULL);
}

static void destroys_itself(struct weft_fiber *self, void *arg)
{
	(void)arg;
	weft_fiber_destroy(self);
}

static void ends(struct weft_fiber *self, void *arg)
{
	(void)self;
	(void)arg;
}

static void run_fiber(weft_fiber_entry *body)
{
	if (weft_fiber_new(&fiber, NULL, body, NULL))
		abort();
	(void)weft_fiber_resume(fiber, NULL);
}

static void resume_a_running_fiber(void)
{
	run_fiber(resumes_itself);
	weft_fiber_destroy(fiber);
}

static void destroy_a_running_fiber(void)
{
	run_fiber(destroys_itself);
	weft_fiber_destroy(fiber);
}

static void resume_a_fiber_that_is_done(void)
{
	run_fiber(ends);
	(void)weft_fiber_resume(fiber, NULL);
	weft_fiber_destroy(fiber);
}

static void yield_from_elsewhere(void)
{
	if (weft_fiber_new(&fiber, NULL, ends, NULL))
		abort();
	(void)weft_fiber_yield(fiber, NULL);
	weft_fiber_destroy(fiber);
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *sentence;
} cases[] = {
	{ "leave-without-enter", leave_without_enter,
	  "weft_root_leave: this thread has not entered that root" },
	{ "leave-twice", leave_twice,
	  "weft_root_leave: this thread has not entered that root" },
	{ "leave-outer-first", leave_outer_first,
	  "weft_root_leave: a root entered later is not left yet" },
	{ "leave-without-pop", leave_without_pop,
	  "weft_root_leave: a frame that runs lay in a function that has returned: "
	  "nobody popped it" },
	{ "enter-twice", enter_twice, "weft_root_enter: this entry is entered already" },
	{ "pop-below-top", pop_below_top,
	  "weft_frame_pop: this frame is not the one that runs" },
	{ "push-twice", push_twice,
	  "weft_frame_push: this frame is in the running chain already" },
	{ "suspend-what-waits", suspend_what_waits,
	  "weft_frame_suspend: this frame is not the one that runs" },
	{ "resume-over-another", resume_over_another,
	  "weft_frame_resume: another frame runs here, neither suspended nor popped" },
	{ "detach-twice", detach_twice,
	  "weft_frame_detach: this frame has no parent, or lost it before" },
	{ "wait-ends-twice", wait_ends_twice,
	  "weft_wait_end: this wait has not begun, or has ended" },
	{ "unlabel-unlabelled", unlabel_unlabelled,
	  "weft_frame_unlabel: this frame has not that label" },
	{ "run-below-a-popped-label", run_below_a_popped_label,
	  "weft_root_enter: a label in this frame's chain was popped" },
	{ "resume-below-a-popped-label", resume_below_a_popped_label,
	  "weft_frame_resume: a label in this frame's chain was popped" },
	{ "list-twice", list_twice, "weft_leaf_add: this leaf is listed already" },
	{ "resume-running", resume_a_running_fiber,
	  "weft_fiber_resume: this fiber runs already" },
	{ "resume-done", resume_a_fiber_that_is_done,
	  "weft_fiber_resume: this fiber has returned from its function" },
	{ "destroy-running", destroy_a_running_fiber,
	  "weft_fiber_destroy: this fiber runs" },
	{ "yield-elsewhere", yield_from_elsewhere,
	  "weft_fiber_yield: this is not the stack of that fiber" },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc < 2)
			printf("%s weft: %s\n", cases[i].name, cases[i].sentence);
		else if (!strcmp(cases[i].name, argv[1]))
			return cases[i].run(), 0;
	}
	return argc < 2 ? 0 : 2;
}
