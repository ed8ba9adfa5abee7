/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stackful fibers that every profiler and debugger can walk through.
 *
 * A fiber is a function with its own stack. It runs inside the function that
 * resumes it, and returns control by yielding. Usually the stack of such a
 * function ends in nothing or, worse, in something that looks like a caller.
 * Here, while a fiber runs, the last frame of its stack is a frame record that
 * leads to the function that resumed it. The chain of frame pointers is correct by
 * construction, the unwind tables agree, and weft, perf and gdb walk from the
 * fiber's leaf to main(). While the fiber is suspended, its stack ends where it
 * began.
 *
 *	static void count(struct weft_fiber *self, void *arg)
 *	{
 *		for (long i = 0; i < 3; i++)
 *			weft_fiber_yield(self, (void *)i);
 *	}
 *
 *	struct weft_fiber *fiber;
 *
 *	if (weft_fiber_new(&fiber, &pool, count, NULL))
 *		return;
 *	while (weft_fiber_state(fiber) != WEFT_FIBER_DONE)
 *		use(weft_fiber_resume(fiber, NULL));
 *	weft_fiber_destroy(fiber);
 *
 * One file of the program has
 *
 *	#define WEFT_FIBER_IMPLEMENTATION
 *	#include <weft/fiber.h>
 *
 * and, if the compiler protects return addresses with shadow stacks, is compiled
 * with -fcf-protection=branch, because a switch of stacks can't move a shadow
 * stack. The linker then marks the program as incompatible with shadow stacks, so
 * the kernel does not enable one. A process that has one gets no fiber (ENOTSUP).
 * Indirect branches land on endbr64 (arm64: bti). clang's -fsanitize=safe-stack and
 * shadow-call-stack are refused, which have a second stack. That one file is assembled in
 * AT&T's syntax, so not with -masm=intel; all others may be.
 *
 * Memory. A fiber lies at the top of its own stack. weft_fiber_new() maps the
 * stack, with an inaccessible page below it. After weft_fiber_destroy() the stack
 * belongs to the pool (or to the kernel again). If a fiber is destroyed before it
 * is done, the contents of its stack are dropped: no destructor or cleanup runs.
 *
 * Threads. One thread at a time uses a fiber and a pool; a suspended fiber may be
 * resumed on another thread. Then mind what a compiler may keep across a yield:
 * the address of a thread-local variable, and of errno.
 *
 * A switch does not keep the rounding mode and the other control bits of floating
 * point, nor the signal mask. An exception must not leave a fiber's function.
 *
 * Roots (see weft/async.h) that a fiber has entered leave the thread's list with
 * the fiber and come back with it. If the fibers of a pool never yield inside
 * their own roots, WEFT_FIBER_NO_ROOTS saves the check for roots.
 *
 * Misuse is defined. Resuming a fiber that runs or is done, yielding from a stack
 * that is not the fiber's, and destroying a fiber that runs do nothing (and
 * return NULL). With -DWEFT_CHECKS the program ends with a message instead. A
 * stack overflow is a SIGSEGV on the page below the stack.
 *
 * Needs C11 or C++11, gcc or clang, Linux, x86-64 or arm64: there WEFT_HAS_FIBER is 1.
 * Elsewhere it is 0, and nothing below is declared. With -DWEFT_DISABLED fibers work
 * as before but ignore roots.
 */
#ifndef WEFT_FIBER_H
#define WEFT_FIBER_H

#include "async.h"

#if WEFT_PLATFORM_ && (defined(__x86_64__) || defined(__aarch64__))
#define WEFT_HAS_FIBER 1
#else
#define WEFT_HAS_FIBER 0
#endif

#if WEFT_HAS_FIBER
#if defined(__has_feature)
#if __has_feature(safe_stack) || __has_feature(shadow_call_stack)
#error "weft/fiber.h: a switch of stacks would leave the second stack behind that \
-fsanitize=safe-stack or -fsanitize=shadow-call-stack keeps: compile without these"
#endif
#endif
#include "async/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_fiber;

typedef void weft_fiber_entry(struct weft_fiber *self, void *arg);

enum weft_fiber_state {
	WEFT_FIBER_SUSPENDED, /* new, or has yielded */
	WEFT_FIBER_RUNNING,   /* was resumed, and may have resumed another */
	WEFT_FIBER_DONE,      /* its function has returned */
};

/*
 * Stacks of one size. stack_bytes: the size of each, rounded up to pages, at least
 * one more than the guard page; keep: how many unused stacks are kept for the
 * next weft_fiber_new(). A pool must outlive its fibers.
 */
struct weft_fiber_pool {
	size_t stack_bytes;
	unsigned int keep;
	unsigned int flags;
	unsigned int n_kept;	 /* private, like all that follows */
	struct weft_fiber *kept; /* by their next_kept */
};

#define WEFT_FIBER_NO_ROOTS 1u /* flags: no fiber yields inside a root of its own */

/* clang-format off */
#define WEFT_FIBER_POOL_INIT(stack_bytes, keep) \
	{ (stack_bytes), (keep), 0, 0, WEFT_NULL_ }
/* clang-format on */

/*
 * Private. The switch knows the first four fields by their offsets. Directly below
 * a fiber, at the top of its stack, lies the record that leads to its resumer:
 * {frame pointer, address to continue at}; zeros while it is suspended.
 */
struct weft_fiber {
	void *sp;	  /* 0: its stack pointer, while suspended */
	void *resumer_sp; /* 8: its resumer's, while it runs */
	void *place;	  /* 16: where it continues */
	void *fp;	  /* 24: its frame pointer, while suspended */
	void *value;	  /* on its way across the switch */
	enum weft_fiber_state state;
	unsigned int flags;
	char *low; /* of the stack, above the guard */
	weft_fiber_entry *entry;
	void *arg;
	struct weft_root *roots;    /* entered on it, while suspended; or NULL */
	struct weft_holder *holder; /* of the thread that they were entered on */
	struct weft_fiber_pool *pool;
	struct weft_fiber *next_kept;
	void *sanitizer[4];
};

/*
 * Creates a fiber that will run entry(fiber, arg), suspended before its first
 * instruction. pool: NULL for a stack of 256 KB that is not kept.
 *
 * 0 and *ret_fiber; or ENOMEM; or ENOTSUP: this process has shadow stacks.
 */
int weft_fiber_new(struct weft_fiber **ret_fiber, struct weft_fiber_pool *pool,
		   weft_fiber_entry *entry, void *arg);

/* Frees the stack of a fiber that does not run. NULL is fine. */
void weft_fiber_destroy(struct weft_fiber *fiber);

/* Unmaps the kept stacks. The pool stays usable. */
void weft_fiber_pool_trim(struct weft_fiber_pool *pool);

static inline enum weft_fiber_state weft_fiber_state(const struct weft_fiber *fiber)
{
	return fiber->state;
}

#include "fiber/switch.h"
#include "fiber/parts.h"

/*
 * Runs a fiber until it yields, and returns what it yielded; or until its
 * function returns, and returns NULL. value is what the fiber's yield returns; the
 * first resume drops it.
 *
 * Inline, so that no return address is predicted across stacks. The function that
 * uses it gets a frame pointer, and is shown as the fiber's caller.
 */
static inline __attribute__((__always_inline__)) void *
weft_fiber_resume(struct weft_fiber *fiber, void *value)
{
	struct weft_fiber_outside_ outside = { WEFT_NULL_, WEFT_NULL_ };

	WEFT_CHECK_(fiber->state != WEFT_FIBER_RUNNING,
		    "weft_fiber_resume: this fiber runs already");
	WEFT_CHECK_(fiber->state != WEFT_FIBER_DONE,
		    "weft_fiber_resume: this fiber has returned from its function");
	if (__builtin_expect(fiber->state != WEFT_FIBER_SUSPENDED, 0))
		return WEFT_NULL_;
	fiber->state = WEFT_FIBER_RUNNING;
	fiber->value = value;
	weft_fiber_roots_in_(fiber, &outside);
	weft_fiber_tell_in_(fiber);
	WEFT_FIBER_SWITCH_(fiber, "weft_fiber_in_");
	weft_fiber_told_back_(fiber);
	weft_fiber_roots_out_(fiber, &outside);
	return fiber->value;
}

/*
 * Suspends the fiber that runs here and passes value to its resumer. Returns the
 * value that the fiber is resumed with, possibly on another thread.
 */
static inline __attribute__((__always_inline__)) void *
weft_fiber_yield(struct weft_fiber *fiber, void *value)
{
	int here = weft_fiber_is_here_(fiber, __builtin_frame_address(0));

	WEFT_CHECK_(here, "weft_fiber_yield: this is not the stack of that fiber");
	if (__builtin_expect(!here, 0))
		return WEFT_NULL_;
	fiber->state = WEFT_FIBER_SUSPENDED;
	fiber->value = value;
	weft_fiber_tell_out_(fiber, &fiber->sanitizer[0]);
	WEFT_FIBER_SWITCH_(fiber, "weft_fiber_out_");
	weft_fiber_told_in_(fiber);
	return fiber->value;
}

/*
 * Two calls make stacks visible that other code switches (ucontext,
 * boost.context, your own switch):
 *
 *	weft_adopted_run(&adopted, body, arg);    first on the foreign stack:
 *	                                          calls body(arg)
 *	WEFT_ADOPTED_RESUME(&adopted, swapcontext(&mine, &other));
 *	                                          around each switch into it
 *
 * While it runs, body is shown as called by the function that resumed it; frames
 * below body on its own stack are not shown. Each stack has one struct
 * weft_adopted, zeroed before its first use, which stays in place as long as the
 * stack and is used by one thread at a time. The function that contains
 * WEFT_ADOPTED_RESUME() gets a frame pointer.
 */
struct weft_adopted {
	void *fp; /* this is the frame record below body: do not reorder */
	void *place;
	struct weft_root *roots;
	struct weft_holder *holder;
};

void weft_adopted_run(struct weft_adopted *adopted, void (*body)(void *arg), void *arg);

#define WEFT_ADOPTED_RESUME(adopted, switch_to_it)                                       \
	do {                                                                             \
		struct weft_adopted *weft_adopted_ = (adopted);                          \
		struct weft_fiber_outside_ weft_outside_ = { WEFT_NULL_, WEFT_NULL_ };   \
		weft_adopted_begin_(weft_adopted_, &weft_outside_,                       \
				    __builtin_frame_address(0), WEFT_FIBER_PLACE_());    \
		switch_to_it;                                                            \
		weft_adopted_end_(weft_adopted_, &weft_outside_);                        \
	} while (0)

#include "fiber/adopted.h"

#ifdef WEFT_FIBER_IMPLEMENTATION
#include "fiber/implementation.h"
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_HAS_FIBER */

#endif
