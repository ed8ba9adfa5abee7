/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells profilers who asked for the work that a thread is doing.
 *
 * A stack shows who called a function. In a program of callbacks that is
 * always the event loop; who asked for the callback returned long ago. With
 * this header a program keeps that answer in a few words of memory, laid out
 * as folly does for its coroutines, and every profiler that knows folly's
 * layout reads it from outside. Nothing is allocated for an operation, no lock
 * is taken, nothing is called back.
 *
 *	struct timer {
 *		struct weft_frame frame;
 *		void (*fire)(struct timer *);
 *		...
 *	};
 *
 *	weft_frame_mark(&timer->frame);     // where the timer is queued
 *	timer_queue_add(queue, timer);
 *
 *	WEFT_ROOT_SCOPE(&timer->frame);     // in the loop, where it is run
 *	timer->fire(timer);
 *
 * These are told:
 *
 *   a frame    one operation in flight: who waits for it (the parent frame) and
 *              where that goes on when it is done (ip, a code address)
 *   a root     one running of callbacks by a dispatcher: which frame it runs,
 *              and which function on the thread's stack is the dispatcher
 *   a wait     a thread that stands still until an operation is done
 *   an op      a frame, and the functions that were under way where it was queued
 *   a label    a word of the program's own between an operation and who asked
 *   a leaf     an operation that waits and would be seen by nobody: a register
 *              of these, off unless -DWEFT_REGISTRY
 *
 * Whose memory. All of these are the caller's and are never copied: embed them
 * in what they describe. A frame must stay where it is for
 * as long as it is run, and as long as a frame above it (a child, and a child
 * of that) may run; weft_frame_detach() ends the tie to a parent that goes
 * first, weft_frame_pop() takes a frame off before its own callback frees it.
 * This header writes only into memory that the caller hands in, but for one
 * word a thread: the holder, from malloc, given back when the thread ends.
 *
 * Threads. A frame is changed by one thread at a time; handing it to another
 * through a queue that synchronizes is enough. A root belongs to one thread:
 * entered, used and left there. What lies in memory is a whole chain at every
 * instruction, so a sampler may interrupt anywhere; other threads may not be
 * read through from inside the process.
 *
 * Errors. No function fails. Without memory or without a free pthread key the
 * thread's work is not shown, and that is all. Every function takes NULL where
 * "no frame" or "no root" makes sense, and says so.
 *
 * Signal handlers. What is said of roots, frames, waits and labels may be used
 * in one, if this thread has entered a root before (the first entry of a thread
 * allocates its holder). Captures and leaves may not.
 *
 * Fork. The child goes on with the calling thread's roots, and with the other
 * threads' leaves still listed. Threads that end while a root is entered leave
 * nothing behind; a root entered by a destructor of thread-specific data is
 * shown like any other.
 *
 * Misuse that is told below to be "left alone" or "nothing" is so. With
 * -DWEFT_CHECKS it ends the program, with a sentence on stderr that says what
 * was wrong; so do a root left that this thread has not entered or not last, a
 * frame that is not what runs, a second detach.
 *
 * -DWEFT_DISABLED leaves the types, for the layout of the caller's own, and
 * makes the rest nothing. Objects with and without any of these three can be
 * linked together.
 *
 * Where. It works on Linux: ELF, 64-bit pointers, a libc, gcc or clang with C11 or
 * C++11. Everywhere else (other systems, 32 bits, freestanding, C89, other
 * compilers) it defines WEFT_DISABLED by itself, includes nothing but <stddef.h> and
 * <stdint.h>, and compiles to nothing.
 *
 * Symbols. What all files of a program share is defined weakly by each file that
 * includes this, and becomes one: hidden weft_key_ and weft_label_cookie_, with
 * -DWEFT_REGISTRY also weft_leaf_lists_ and weft_leaf_ready_; and of default
 * visibility, since a process has one list of roots,
 *
 *   folly_async_stack_root_tls_key             a pthread_key_t
 *   folly_async_stack_metadata_frame_cookie    a uintptr_t
 *
 * A library that wants to know where its symbols come from compiles all of its
 * files with -DWEFT_ASYNC_EXTERN, which then define none of them, and one file that
 * has #define WEFT_ASYNC_IMPLEMENTATION before the include. A version script may
 * make the two local: that library's roots are then a list of their own.
 *
 * pthread is all it needs. The folder async/ beside this file belongs to it.
 */
#ifndef WEFT_ASYNC_H
#define WEFT_ASYNC_H

#define WEFT_ASYNC_VERSION 100 /* 10000 * major + 100 * minor + patch: 0.1.0 */

#include "async/platform.h"

#include <stddef.h>
#include <stdint.h>
#if WEFT_PLATFORM_
#include <pthread.h>
#include <stdlib.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The layout that profilers read: the fields, their order and their sizes are
 * folly's (AsyncStackFrame, AsyncStackRoot and the thread's holder). Use the
 * functions below to write them.
 */
struct weft_frame {
	struct weft_frame *parent; /* who waits for this; NULL: nobody, detached */
	void *ip;		   /* where that goes on; a profiler names ip - 1 */
	struct weft_root *root;	   /* only in a wait's frame: the waiting root */
};

struct weft_root {
	struct weft_frame *top; /* the frame that runs; NULL: the dispatcher itself */
	struct weft_root *next; /* the root entered before, further down this stack */
	void *fp;		/* frame pointer of the function that entered it */
	void *ra;		/* and that function's return address */
};

struct weft_holder {
	struct weft_root *root; /* the innermost of this thread, or NULL */
};

/*
 * One entry of a root: on the stack of the function that runs callbacks. Where
 * it may be left without having been entered, it starts as WEFT_ENTRY_INIT.
 */
struct weft_entry {
	struct weft_root root;
	struct weft_holder *holder; /* NULL: not entered, or not to be shown */
};

/* clang-format off */
#define WEFT_ENTRY_INIT { { NULL, NULL, NULL, NULL }, NULL }
/* clang-format on */

/* One blocking wait: on the stack of the function that waits. */
struct weft_wait {
	struct weft_frame frame; /* the parent of what is waited for */
	struct weft_root root;
};

/*
 * A frame with a word, see weft_frame_label(). text and tag follow the frame as
 * folly's metadata follows its marker frames.
 */
struct weft_label {
	struct weft_frame frame; /* ip: a cookie, by which a walker knows it */
	const char *text;	 /* stays as long as this does */
	uint64_t tag;		 /* WEFT_LABEL_TAG: this is text, not folly's own */
};

#define WEFT_LABEL_TAG 0x6c6562616c746677ULL /* "wftlabel" */

/* How many synchronous callers a weft_op keeps at most. */
#define WEFT_OP_CALLERS 8

struct weft_op {
	struct weft_frame frame; /* run this one */
	struct weft_frame callers[WEFT_OP_CALLERS];
};

/* An operation that waits, see weft_leaf_add(). */
struct weft_leaf {
	struct weft_leaf *next, *prev;
	const struct weft_frame *frame;
	struct weft_leaf_list *list; /* NULL: not listed */
};

#ifdef WEFT_DISABLED
#include "async/off.h"
#else
#include "async/base.h"
#include "async/key.h"

/* The innermost root that this thread has entered, or NULL. Borrowed. */
static inline struct weft_root *weft_root_current(void)
{
	struct weft_holder *holder = weft_holder_find_();

	return holder ? __atomic_load_n(&holder->root, __ATOMIC_RELAXED) : NULL;
}

/* The frame that this thread runs now, or NULL. Borrowed. */
static inline struct weft_frame *weft_frame_current(void)
{
	struct weft_root *root = weft_root_current();

	return root ? __atomic_load_n(&root->top, __ATOMIC_RELAXED) : NULL;
}

static inline void weft_root_enter_(struct weft_entry *entry, struct weft_frame *frame,
				    void *fp, void *ra)
{
	struct weft_holder *holder = weft_holder_find_();

	if (__builtin_expect(!holder, 0))
		holder = weft_holder_make_();
	WEFT_CHECK_(!holder || weft_root_depth_(holder->root, &entry->root) < 0,
		    "weft_root_enter: this entry is entered already");
	entry->holder = holder;
	entry->root.top = frame;
	entry->root.fp = fp;
	entry->root.ra = ra;
	entry->root.next =
		holder ? __atomic_load_n(&holder->root, __ATOMIC_RELAXED) : NULL;
	if (holder)
		WEFT_PUBLISH_(&holder->root, &entry->root);
}

#ifdef WEFT_CHECKS
/* entry may be memory that was never written, so only its address is used. */
__attribute__((unused)) static void weft_check_leave_(const struct weft_entry *entry)
{
	struct weft_holder *holder = weft_holder_find_();
	int depth = weft_root_depth_(holder ? holder->root : NULL, &entry->root);

	WEFT_CHECK_(depth >= 0 || !holder,
		    "weft_root_leave: this thread has not entered that root");
	WEFT_CHECK_(depth <= 0, "weft_root_leave: a root entered later is not left yet");
}
#endif

/*
 * From here to weft_root_leave(entry), the function that uses this is a
 * dispatcher: what it calls is shown as called by frame's chain. frame: what
 * it is about to run, or NULL for nothing yet. entry lies in this function and
 * is left in it, on the same thread, in reverse order of entering; not in one
 * whose frame ends before (an "enter" helper must be a macro). The function
 * gets a frame pointer by this; its callers need one too, or unwind tables.
 */
#define weft_root_enter(entry, frame)                                                    \
	weft_root_enter_(entry, frame, __builtin_frame_address(0),                       \
			 __builtin_return_address(0))

/*
 * Ends it. The frame is not touched: its callback may have freed it. Leaving
 * twice, or a WEFT_ENTRY_INIT, does nothing. Roots entered later and not left
 * end with it.
 */
static inline void weft_root_leave(struct weft_entry *entry)
{
	struct weft_holder *holder = entry->holder;

#ifdef WEFT_CHECKS
	weft_check_leave_(entry);
#endif
	if (!holder)
		return;
	entry->holder = NULL;
	WEFT_PUBLISH_(&entry->root.top, WEFT_CAST_(struct weft_frame *, NULL));
	WEFT_PUBLISH_(&holder->root, entry->root.next);
}

/*
 * Enters a root here and leaves it when the enclosing block ends, on every way
 * out: early return, break, goto, a C++ exception (in C, with -fexceptions,
 * also pthread_exit). A declaration: it needs a block of its own.
 */
#define WEFT_ROOT_SCOPE(frame)	      WEFT_ROOT_SCOPE_(frame, __LINE__)
#define WEFT_ROOT_SCOPE_(frame, line) WEFT_ROOT_SCOPE__(frame, line)
#define WEFT_ROOT_SCOPE__(frame, line)                                                   \
	struct weft_entry weft_entry_##line __attribute__((cleanup(weft_root_leave)));   \
	weft_root_enter(&weft_entry_##line, frame)

/*
 * Fills a frame: an operation that parent waits for (NULL: nobody) and after
 * which parent goes on at ip (WEFT_HERE(), WEFT_CALLER(), or any code address).
 * It does not run yet. parent is borrowed as the head of this file says.
 */
static inline void weft_frame_init(struct weft_frame *frame, struct weft_frame *parent,
				   void *ip)
{
	frame->ip = ip;
	frame->root = NULL;
	/* by itself: half of a wide store is slow to read back in a pop */
	__atomic_store_n(&frame->parent, parent, __ATOMIC_RELAXED);
}

/*
 * Fills a frame for work that is queued on this line by whatever runs now:
 * shown as called from here. Outside of any root it is a detached one.
 *
 * What is queued again and again, such as a connection's next read, is filled
 * once, by who set it up: filled anew by what itself came from it, its chain
 * would lead back to itself.
 */
#define weft_frame_mark(frame) weft_frame_init(frame, weft_frame_current(), WEFT_HERE())

/*
 * The running frame starts an operation and is, until that ends or waits, no
 * longer what runs: frame is, with the running one as parent. root: of this
 * thread, from weft_root_current(); NULL: the frame is filled and not shown.
 */
static inline void weft_frame_push(struct weft_root *root, struct weft_frame *frame,
				   void *ip)
{
	struct weft_frame *parent = root ? root->top : NULL;

	WEFT_CHECK_(!weft_chain_has_(parent, frame),
		    "weft_frame_push: this frame is in the running chain already");
	frame->ip = ip;
	if (!parent) /* else nobody reads it, and a store less is a cycle less */
		frame->root = NULL;
	__atomic_store_n(&frame->parent, parent, __ATOMIC_RELAXED);
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * The running frame has ended: its parent runs again. Then its memory may go.
 * A frame that is not what root runs is left alone; NULL root: nothing.
 */
static inline void weft_frame_pop(struct weft_root *root, struct weft_frame *frame)
{
	WEFT_CHECK_(!root || root->top == frame,
		    "weft_frame_pop: this frame is not the one that runs");
	if (root && root->top == frame)
		WEFT_PUBLISH_(&root->top, frame->parent);
}

/*
 * The running frame waits, and the thread goes back to its dispatcher. Call it
 * before the frame is handed to anyone who might resume it. A frame that is
 * not what root runs is left alone; NULL root: nothing.
 */
static inline void weft_frame_suspend(struct weft_root *root,
				      const struct weft_frame *frame)
{
	WEFT_CHECK_(!root || root->top == frame,
		    "weft_frame_suspend: this frame is not the one that runs");
	if (root && root->top == frame)
		WEFT_PUBLISH_(&root->top, WEFT_CAST_(struct weft_frame *, NULL));
}

/*
 * A frame runs again, or for the first time, in an entered root of this thread,
 * whichever thread it ran on before. NULL root: nothing. A root entered with
 * the frame needs no resume.
 */
static inline void weft_frame_resume(struct weft_root *root, struct weft_frame *frame)
{
	WEFT_CHECK_(!root || !frame || !root->top || root->top == frame,
		    "weft_frame_resume: another frame runs here, neither suspended nor "
		    "popped");
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * Nobody waits for this any more: its chain ends at the place that started it.
 * Call it before the parent's memory goes. At any time; twice is the same as
 * once, and so is detaching what has no parent.
 */
static inline void weft_frame_detach(struct weft_frame *frame)
{
	WEFT_CHECK_(frame->parent,
		    "weft_frame_detach: this frame has no parent, or lost it before");
	frame->root = NULL; /* first, since a last frame's is looked at */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	WEFT_PUBLISH_(&frame->parent, WEFT_CAST_(struct weft_frame *, NULL));
}

static inline void weft_wait_begin_(struct weft_wait *wait, void *fp, void *ra)
{
	wait->root.next = weft_root_current();
	wait->root.fp = fp;
	wait->root.ra = ra;
	wait->frame.parent = NULL;
	wait->frame.ip = ra;
	wait->frame.root = &wait->root;
	WEFT_PUBLISH_(&wait->root.top, &wait->frame);
}

/*
 * From here to weft_wait_end(wait), the function that uses this stands still
 * for an operation. Give that operation &wait->frame as its parent and
 * WEFT_HERE() of this function as its ip; whichever thread runs it is then
 * shown as called by this function, and by this thread's callers of it.
 * Nothing but weft_frame_init() takes &wait->frame.
 */
#define weft_wait_begin(wait)                                                            \
	weft_wait_begin_(wait, __builtin_frame_address(0), __builtin_return_address(0))

/* Ends it: after the operation has ended or was detached, before returning.
 * Twice is the same as once. */
static inline void weft_wait_end(struct weft_wait *wait)
{
	WEFT_CHECK_(wait->root.top == &wait->frame && wait->frame.root == &wait->root,
		    "weft_wait_end: this wait has not begun, or has ended");
	WEFT_PUBLISH_(&wait->root.top, WEFT_CAST_(struct weft_frame *, NULL));
	WEFT_PUBLISH_(&wait->frame.root, WEFT_CAST_(struct weft_root *, NULL));
}

#include "async/label.h"
#include "async/capture.h"
#include "async/leaf.h"

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif

#endif
