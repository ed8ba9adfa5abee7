/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells profilers who asked for the work that a thread is doing.
 *
 * A stack shows who called a function. In a program built from callbacks the
 * caller is always the event loop; the function that asked for the callback
 * returned long ago. With this header a program keeps that answer in a few
 * words of memory, in the layout of folly's coroutines. Every profiler that
 * knows folly's layout reads it from outside. An operation needs no
 * allocation, no lock and no call back.
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
 * A program describes its work with these:
 *
 *   a frame    one operation in flight: who waits for it (the parent frame) and
 *              where the parent continues when it is done (ip, a code address)
 *   a root     a dispatcher that runs callbacks: which frame it runs, and which
 *              function on the thread's stack is the dispatcher
 *   a wait     a thread that blocks until an operation is done
 *   an op      a frame, and the functions on the stack where it was queued
 *   a label    the program's own text between an operation and its caller; it holds
 *              a copy of the text
 *   a context  the trace and span, as OpenTelemetry has them, that an operation and
 *              all that it asks for work for
 *   a leaf     an operation that waits, which no profiler sees otherwise: listed
 *              in a registry, which is off unless -DWEFT_REGISTRY
 *
 * Memory. The caller owns all of these, and they are never copied: embed them in
 * the objects that they describe. A frame must stay in place while it runs, and
 * while a frame above it (a child, or a child's child) may run. If a parent ends
 * first, weft_frame_detach() unlinks the child; if a callback frees its own
 * frame, it calls weft_frame_pop() before. This header writes only into memory
 * that the caller passes, except for one word per thread: the holder, from
 * malloc, freed when the thread ends.
 *
 * Threads. One thread at a time changes a frame; passing it to another thread
 * through a queue that synchronizes is enough. A root belongs to one thread,
 * which enters, uses and leaves it. At every instruction, memory holds a
 * complete chain, so a sampler may interrupt anywhere. Code inside the process
 * must not read the chains of other threads.
 *
 * Errors. No function fails. Without memory or without a free pthread key, the
 * thread's work is not shown; nothing else changes. Every function that accepts
 * NULL for "no frame" or "no root" says so.
 *
 * Signal handlers may use roots, frames, waits and labels, if this thread has
 * entered a root before (the first entry of a thread allocates its holder).
 * They may not use captures and leaves.
 *
 * Fork. The child continues with the calling thread's roots, and the leaves of
 * the other threads stay listed. A thread that ends inside a root leaves nothing
 * behind. A root that a destructor of thread-specific data enters is shown like
 * any other.
 *
 * Misuse. Where a comment below says "ignored" or "nothing", misuse does nothing.
 * With -DWEFT_CHECKS it ends the program with a message on stderr. So do leaving
 * a root that this thread has not entered, or not last, or while a frame runs that lay
 * in a function which has returned; a frame that is not running, and a second detach.
 *
 * -DWEFT_DISABLED keeps the types, so that the caller's layout is the same, and
 * compiles the rest to nothing. Objects with and without any of these three
 * macros can be linked together.
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
 * make the two local: that library's roots are then a list of their own, and what it
 * marks has no callers outside. So has a plugin (dlopen) of a program that does not
 * export the two: link that with -rdynamic, or with
 * -Wl,--export-dynamic-symbol=folly_async_stack_root_tls_key and the same of the other.
 * A library with a list of its own has a pthread key of its own, too, which it does not
 * give back when it is unloaded; a process has 1,024.
 *
 * It needs pthread only. The folder async/ next to this file belongs to it.
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
	struct weft_frame *parent; /* waits for this frame; NULL: none, detached */
	void *ip;		   /* where it continues; a profiler names ip - 1 */
	struct weft_root *root;	   /* only in a wait's frame: the waiting root */
};

struct weft_root {
	struct weft_frame *top; /* the running frame; NULL: the dispatcher itself */
	struct weft_root *next; /* the root entered before, further down this stack */
	void *fp;		/* frame pointer of the function that entered it */
	void *ra;		/* and that function's return address */
};

struct weft_holder {
	struct weft_root *root; /* the innermost of this thread, or NULL */
};

/*
 * One entry of a root: on the stack of the function that runs callbacks. If it
 * may be left without having been entered, initialize it with WEFT_ENTRY_INIT.
 */
struct weft_entry {
	struct weft_root root;
	struct weft_holder *holder; /* NULL: not entered, or not to be shown */
};

/* clang-format off */
#define WEFT_ENTRY_INIT { { WEFT_NULL_, WEFT_NULL_, WEFT_NULL_, WEFT_NULL_ }, WEFT_NULL_ }
/* clang-format on */

/* One blocking wait: on the stack of the function that waits. */
struct weft_wait {
	struct weft_frame frame; /* the parent of the awaited operation */
	struct weft_root root;
};

/* Of a label's text, with the zero behind it: what profilers show. */
#define WEFT_LABEL_BYTES 36

/*
 * A frame with a text, see weft_frame_label(). text and tag follow the frame as
 * folly's metadata follows its marker frames.
 */
struct weft_label {
	struct weft_frame frame; /* ip: a cookie, by which walkers recognize it */
	const char *text;	 /* copy below */
	uint64_t tag;		 /* WEFT_LABEL_TAG: this is text, not folly's own */
	char copy[WEFT_LABEL_BYTES];
};

#define WEFT_LABEL_TAG 0x6c6562616c746677ULL /* "wftlabel" */

/* Of a record of OpenTelemetry's: its 28 bytes, and attributes. */
#define WEFT_CONTEXT_BYTES 128

/* A frame with what the work is for, see weft_frame_carry(). Begins as a label does. */
struct weft_context {
	struct weft_frame frame;
	const void *record; /* copy below */
	uint64_t tag;	    /* WEFT_CONTEXT_TAG */
	unsigned char copy[WEFT_CONTEXT_BYTES];
};

#define WEFT_CONTEXT_TAG 0x7478657463746677ULL /* "wftctext" */

/* The maximum of synchronous callers that a weft_op keeps. */
#define WEFT_OP_CALLERS 8

struct weft_op {
	struct weft_frame frame; /* the frame to run */
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

	return holder ? __atomic_load_n(&holder->root, __ATOMIC_RELAXED) : WEFT_NULL_;
}

/* The frame that this thread runs now, or NULL. Borrowed. */
static inline struct weft_frame *weft_frame_current(void)
{
	struct weft_root *root = weft_root_current();

	return root ? __atomic_load_n(&root->top, __ATOMIC_RELAXED) : WEFT_NULL_;
}

static inline void weft_root_enter_(struct weft_entry *entry, struct weft_frame *frame,
				    void *fp, void *ra)
{
	struct weft_holder *holder = weft_holder_find_();
	struct weft_root *next = WEFT_NULL_;

	if (__builtin_expect(!holder, 0))
		holder = weft_holder_make_();
	WEFT_CHECK_(!holder || weft_root_depth_(holder->root, &entry->root) < 0,
		    "weft_root_enter: this entry is entered already");
	WEFT_CHECK_(!weft_chain_ended_(frame),
		    "weft_root_enter: a label in this frame's chain was popped");
	entry->holder = holder;
	entry->root.top = frame;
	entry->root.fp = fp;
	entry->root.ra = ra;
	if (holder)
		next = __atomic_load_n(&holder->root, __ATOMIC_RELAXED);
	/* an earlier one in its place was left without a word, by longjmp(): what that
	 * led to may have been written over */
	entry->root.next = next == &entry->root ? WEFT_NULL_ : next;
	if (holder)
		WEFT_PUBLISH_(&holder->root, &entry->root);
}

/*
 * Where longjmp() comes back to, out of dispatchers that could not leave their roots: the
 * root that was current there, from weft_root_current() before setjmp(), is so again.
 * NULL: none was. Without this, roots in memory that is no longer theirs are read, by
 * profilers and by this thread.
 *
 *	struct weft_root *volatile root = weft_root_current();
 *
 *	if (setjmp(env))
 *		weft_root_rewind(root);
 */
static inline void weft_root_rewind(struct weft_root *root)
{
	struct weft_holder *holder = weft_holder_find_();

	WEFT_CHECK_(!root || (holder && weft_root_depth_(holder->root, root) >= 0),
		    "weft_root_rewind: this thread has not entered that root");
	if (holder)
		WEFT_PUBLISH_(&holder->root, root);
}

#ifdef WEFT_CHECKS
/* entry may be uninitialized memory, so only its address is used if it is not entered. */
__attribute__((__unused__)) static void weft_check_leave_(const struct weft_entry *entry)
{
	struct weft_holder *holder = weft_holder_find_();
	int depth = weft_root_depth_(holder ? holder->root : WEFT_NULL_, &entry->root);

	WEFT_CHECK_(depth >= 0 || !holder,
		    "weft_root_leave: this thread has not entered that root");
	WEFT_CHECK_(depth <= 0, "weft_root_leave: a root entered later is not left yet");
	WEFT_CHECK_(depth || !weft_is_dead_(entry->root.top),
		    "weft_root_leave: a frame that runs lay in a function that has "
		    "returned: nobody popped it");
}
#endif

/*
 * From here to weft_root_leave(entry), the function that uses this is a
 * dispatcher: profilers show the functions that it calls as called by frame's
 * chain. frame: what it is about to run, or NULL for nothing yet. entry lies in
 * this function, which must also leave it, on the same thread and in reverse
 * order of entering; behind a longjmp(), see weft_root_rewind(). An "enter" helper
 * must be a macro, because a helper function's frame would end before. The macro
 * makes the function keep a frame pointer; its callers need one too, or unwind
 * tables.
 */
#define weft_root_enter(entry, frame)                                                    \
	weft_root_enter_(entry, frame, __builtin_frame_address(0),                       \
			 __builtin_return_address(0))

/*
 * Leaves a root. It does not touch the frame, which its callback may have freed.
 * Leaving twice, or leaving a WEFT_ENTRY_INIT, does nothing. Roots entered later
 * and not left end with this one.
 */
static inline void weft_root_leave(struct weft_entry *entry)
{
	struct weft_holder *holder = entry->holder;

#ifdef WEFT_CHECKS
	weft_check_leave_(entry);
#endif
	if (!holder)
		return;
	entry->holder = WEFT_NULL_;
	WEFT_PUBLISH_(&entry->root.top, WEFT_CAST_(struct weft_frame *, WEFT_NULL_));
	WEFT_PUBLISH_(&holder->root, entry->root.next);
}

/*
 * Enters a root here and leaves it when the enclosing block ends, however it
 * ends: early return, break, goto, a C++ exception (in C, with -fexceptions,
 * also pthread_exit). This is a declaration, so it must stand inside a block, and no
 * goto may enter that block behind it. If it can't (with -Wdeclaration-after-statement,
 * say), use weft_root_enter() and weft_root_leave().
 */
#ifdef __cplusplus
#define WEFT_SCOPE_INIT_ = WEFT_ENTRY_INIT /* so that a goto past it is an error */
#else
#define WEFT_SCOPE_INIT_
#endif
#define WEFT_ROOT_SCOPE(frame)	      WEFT_ROOT_SCOPE_(frame, __LINE__)
#define WEFT_ROOT_SCOPE_(frame, line) WEFT_ROOT_SCOPE__(frame, line)
#define WEFT_ROOT_SCOPE__(frame, line)                                                   \
	struct weft_entry weft_entry_##line                                              \
		__attribute__((__cleanup__(weft_root_leave))) WEFT_SCOPE_INIT_;          \
	weft_root_enter(&weft_entry_##line, frame)

/*
 * Fills a frame: an operation that parent waits for (NULL: none), after which
 * parent continues at ip (WEFT_HERE(), WEFT_CALLER(), or any code address). The
 * operation does not run yet. parent is borrowed as the head of this file says.
 */
static inline void weft_frame_init(struct weft_frame *frame, struct weft_frame *parent,
				   void *ip)
{
	frame->ip = ip;
	frame->root = WEFT_NULL_;
	/* by itself: half of a wide store is slow to read back in a pop */
	__atomic_store_n(&frame->parent, parent, __ATOMIC_RELAXED);
}

/*
 * Fills a frame for work that the running operation queues on this line; it is
 * shown as called from here. Outside of any root the frame is detached. Labels that
 * are pushed around this line end before the work runs, so it is not shown under
 * them: see weft_frame_mark_labelled().
 *
 * If work is queued repeatedly, such as a connection's next read, fill its frame
 * once. If an operation that came from a frame filled it again, the frame's chain
 * would lead back to itself.
 */
#define weft_frame_mark(f)	    weft_frame_init(f, weft_frame_asker(), WEFT_HERE())

/*
 * For handlers that queue themselves again, wherever they do: fills the frame if it
 * is not filled yet, so the first place that asked is shown. A frame of zeros is not
 * filled; clear it when its memory is to serve another operation.
 */
#define weft_frame_mark_once(frame) weft_frame_mark_once_(frame, WEFT_HERE())

static inline void weft_frame_clear(struct weft_frame *frame)
{
	weft_frame_init(frame, WEFT_NULL_, WEFT_NULL_);
}

/*
 * The running frame starts an operation. Until that ends or waits, frame is the
 * running frame, with the previous one as its parent. root: of this thread, from
 * weft_root_current(); NULL: the frame is filled but not shown.
 */
static inline void weft_frame_push(struct weft_root *root, struct weft_frame *frame,
				   void *ip)
{
	struct weft_frame *parent = root ? root->top : WEFT_NULL_;

	WEFT_CHECK_(!weft_chain_has_(parent, frame),
		    "weft_frame_push: this frame is in the running chain already");
	frame->ip = ip;
	if (!parent) /* else nobody reads it, and one store less saves a cycle */
		frame->root = WEFT_NULL_;
	__atomic_store_n(&frame->parent, parent, __ATOMIC_RELAXED);
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * The running frame has ended: its parent runs again. After this its memory may
 * be freed. A frame that root does not run is ignored; NULL root: nothing.
 */
static inline void weft_frame_pop(struct weft_root *root, struct weft_frame *frame)
{
	WEFT_CHECK_(!root || root->top == frame,
		    "weft_frame_pop: this frame is not the one that runs");
	if (root && root->top == frame)
		WEFT_PUBLISH_(&root->top, frame->parent);
}

/*
 * The running frame waits, and the thread returns to its dispatcher. Call this
 * before other code can resume the frame. A frame that root does not run is
 * ignored; NULL root: nothing.
 */
static inline void weft_frame_suspend(struct weft_root *root,
				      const struct weft_frame *frame)
{
	WEFT_CHECK_(!root || root->top == frame,
		    "weft_frame_suspend: this frame is not the one that runs");
	if (root && root->top == frame)
		WEFT_PUBLISH_(&root->top, WEFT_CAST_(struct weft_frame *, WEFT_NULL_));
}

/*
 * A frame runs again, or for the first time, in an entered root of this thread,
 * whichever thread it ran on before. NULL root: nothing. If the root was entered
 * with the frame, no resume is needed.
 */
static inline void weft_frame_resume(struct weft_root *root, struct weft_frame *frame)
{
	WEFT_CHECK_(!root || !frame || !root->top || root->top == frame,
		    "weft_frame_resume: another frame runs here, neither suspended nor "
		    "popped");
	WEFT_CHECK_(!weft_chain_ended_(frame),
		    "weft_frame_resume: a label in this frame's chain was popped");
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * Nothing waits for this frame any more: its chain ends at the place that
 * started it. Call this before the parent's memory is freed, at any time.
 * Detaching twice, or a frame without a parent, does nothing.
 */
static inline void weft_frame_detach(struct weft_frame *frame)
{
	WEFT_CHECK_(frame->parent,
		    "weft_frame_detach: this frame has no parent, or lost it before");
	/* first, since walkers read it in a chain's last frame */
	frame->root = WEFT_NULL_;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	WEFT_PUBLISH_(&frame->parent, WEFT_CAST_(struct weft_frame *, WEFT_NULL_));
}

static inline void weft_wait_begin_(struct weft_wait *wait, void *fp, void *ra)
{
	wait->root.next = weft_root_current();
	wait->root.fp = fp;
	wait->root.ra = ra;
	wait->frame.parent = WEFT_NULL_;
	wait->frame.ip = ra;
	wait->frame.root = &wait->root;
	WEFT_PUBLISH_(&wait->root.top, &wait->frame);
}

/*
 * From here to weft_wait_end(wait), the function that uses this blocks until an
 * operation is done. Give that operation &wait->frame as its parent and
 * WEFT_HERE() of this function as its ip. Whichever thread runs it, the operation
 * is then shown as called by this function and by this function's callers. Pass
 * &wait->frame only to weft_frame_init().
 */
#define weft_wait_begin(wait)                                                            \
	weft_wait_begin_(wait, __builtin_frame_address(0), __builtin_return_address(0))

/* Ends a wait: after the operation has ended or was detached, and before this
 * function returns. Ending twice does nothing. */
static inline void weft_wait_end(struct weft_wait *wait)
{
	WEFT_CHECK_(wait->root.top == &wait->frame && wait->frame.root == &wait->root,
		    "weft_wait_end: this wait has not begun, or has ended");
	WEFT_PUBLISH_(&wait->root.top, WEFT_CAST_(struct weft_frame *, WEFT_NULL_));
	WEFT_PUBLISH_(&wait->frame.root, WEFT_CAST_(struct weft_root *, WEFT_NULL_));
}

#include "async/label.h"
#include "async/context.h"
#include "async/capture.h"
#include "async/leaf.h"

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif

#endif
