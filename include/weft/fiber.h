/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stackful fibers that every profiler and debugger can look through.
 *
 * A fiber is a function with a stack of its own, which runs when it is resumed,
 * inside whoever resumes it, and hands back by yielding. As a rule the stack of
 * such a function ends in nothing, or worse, in something that looks like a
 * caller. Here the last frame of a fiber's stack is, while it runs, a frame
 * record that leads to the function that resumed it: the chain of frame
 * pointers is true by construction, the unwind tables say the same, and weft,
 * perf and gdb go from the fiber's leaf to main(). While the fiber is suspended
 * its stack ends where it began.
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
 * and, where the compiler protects return addresses by shadow stacks, is
 * compiled with -fcf-protection=branch: a switch of stacks leaves a shadow stack
 * behind. The linker then marks the program as not fit for one, and so the
 * kernel gives it none; a process that has one gets no fiber (ENOTSUP). Indirect
 * branches land on endbr64 (arm64: bti).
 *
 * Whose memory. A fiber lies at the top of its own stack, which is mapped by
 * weft_fiber_new(), below it a page that nobody may touch, and belongs to the
 * pool (or to the kernel again) after weft_fiber_destroy(). What is on the stack
 * of a fiber that is destroyed before it is done is dropped: no destructor or
 * cleanup runs.
 *
 * Threads. A fiber and a pool are used by one thread at a time; a suspended
 * fiber may be resumed on another one. Mind then what a compiler may keep across
 * a yield: the address of a thread-local variable, and of errno.
 *
 * Not kept by a switch: the rounding mode and the other control bits of floating
 * point, the signal mask. An exception may not leave a fiber's function.
 *
 * Roots (see weft/async.h) that a fiber has entered leave the thread's list with
 * it and come back with it. Where fibers of a pool never yield inside a root of
 * their own, WEFT_FIBER_NO_ROOTS saves the look for some.
 *
 * Misuse is defined. Resuming a fiber that runs or is done, yielding from a
 * stack that is not the fiber's, destroying one that runs: nothing happens (NULL
 * is returned). With -DWEFT_CHECKS the program ends with a sentence instead.
 * An overflow of a stack is a SIGSEGV on the page below it.
 *
 * C11, C++11, gcc or clang, Linux, x86-64 and arm64: there WEFT_HAS_FIBER is 1.
 * Elsewhere it is 0, and nothing below is declared. With -DWEFT_DISABLED fibers work
 * as before, and know nothing of roots.
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
 * Stacks of one size. stack_bytes: of each, rounded up to pages, at least one
 * more than the guard page; keep: how many of those no longer used are kept for
 * the next weft_fiber_new(). A pool must outlive its fibers.
 */
struct weft_fiber_pool {
	size_t stack_bytes;
	unsigned int keep;
	unsigned int flags;
	unsigned int n_kept;	 /* private, and what follows */
	struct weft_fiber *kept; /* by their next_kept */
};

#define WEFT_FIBER_NO_ROOTS 1u /* flags: no fiber yields inside a root of its own */

/* clang-format off */
#define WEFT_FIBER_POOL_INIT(stack_bytes, keep) { (stack_bytes), (keep), 0, 0, NULL }
/* clang-format on */

/*
 * Private. The switch knows the first four fields by their offsets. Right below
 * a fiber, at the top of its stack, lies the record that leads to its resumer:
 * {frame pointer, place to go on}; zeroes while it is suspended.
 */
struct weft_fiber {
	void *sp;	  /* 0: its stack pointer, while suspended */
	void *resumer_sp; /* 8: its resumer's, while it runs */
	void *place;	  /* 16: where it goes on */
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
 * Makes a fiber that will run entry(fiber, arg), suspended before its first
 * instruction. pool: NULL for a stack of 256 KB that is not kept.
 *
 * 0 and *ret_fiber; or ENOMEM; or ENOTSUP: this process has shadow stacks.
 */
int weft_fiber_new(struct weft_fiber **ret_fiber, struct weft_fiber_pool *pool,
		   weft_fiber_entry *entry, void *arg);

/* Gives back the stack of a fiber that does not run. NULL is fine. */
void weft_fiber_destroy(struct weft_fiber *fiber);

/* Unmaps the stacks that are kept. The pool can be used on. */
void weft_fiber_pool_trim(struct weft_fiber_pool *pool);

static inline enum weft_fiber_state weft_fiber_state(const struct weft_fiber *fiber)
{
	return fiber->state;
}

#include "fiber/switch.h"
#include "fiber/parts.h"

/*
 * Runs a fiber until it yields, and returns what it yielded; or until its
 * function returns, and returns NULL. value is what its yield returns; of the
 * first resume it is lost.
 *
 * Inline, so that no return address is predicted across stacks; the function
 * that uses it gets a frame pointer, and is shown as the fiber's caller.
 */
static inline __attribute__((always_inline)) void *
weft_fiber_resume(struct weft_fiber *fiber, void *value)
{
	struct weft_fiber_outside_ outside = { NULL, NULL };

	WEFT_CHECK_(fiber->state != WEFT_FIBER_RUNNING,
		    "weft_fiber_resume: this fiber runs already");
	WEFT_CHECK_(fiber->state != WEFT_FIBER_DONE,
		    "weft_fiber_resume: this fiber has returned from its function");
	if (__builtin_expect(fiber->state != WEFT_FIBER_SUSPENDED, 0))
		return NULL;
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
 * Suspends the fiber that runs here and hands value to who resumed it. Returns
 * what it is resumed with, which may be on another thread.
 */
static inline __attribute__((always_inline)) void *
weft_fiber_yield(struct weft_fiber *fiber, void *value)
{
	int here = weft_fiber_is_here_(fiber, __builtin_frame_address(0));

	WEFT_CHECK_(here, "weft_fiber_yield: this is not the stack of that fiber");
	if (__builtin_expect(!here, 0))
		return NULL;
	fiber->state = WEFT_FIBER_SUSPENDED;
	fiber->value = value;
	weft_fiber_tell_out_(fiber, &fiber->sanitizer[0]);
	WEFT_FIBER_SWITCH_(fiber, "weft_fiber_out_");
	weft_fiber_told_in_(fiber);
	return fiber->value;
}

/*
 * Stacks that other code switches (ucontext, boost.context, a switch of one's
 * own) become visible by two calls:
 *
 *	weft_adopted_run(&adopted, body, arg);    first on the foreign stack:
 *	                                          calls body(arg)
 *	WEFT_ADOPTED_RESUME(&adopted, swapcontext(&mine, &other));
 *	                                          around each switch into it
 *
 * While it runs, body is shown as called by the function that resumed it; what
 * lies below body on its own stack is not shown. One struct weft_adopted a
 * stack, zeroed before its first use, in place as long as the stack; one thread
 * at a time. What WEFT_ADOPTED_RESUME() stands in gets a frame pointer.
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
		struct weft_fiber_outside_ weft_outside_ = { NULL, NULL };               \
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
