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
 * Three things are told:
 *
 *   a frame   one operation in flight: who waits for it (the parent frame) and
 *             where that goes on when it is done (ip, a code address)
 *   a root    one running of callbacks by a dispatcher: which frame it runs,
 *             and which function on the thread's stack is the dispatcher
 *   a wait    a thread that stands still until an operation is done
 *
 * Whose memory. Frames, entries and waits are the caller's and are never
 * copied: embed them in what they describe. A frame must stay where it is for
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
 * Signal handlers. All of it may be used in one, if this thread has entered a
 * root before (the first entry of a thread allocates its holder). After fork
 * the child goes on with the calling thread's roots.
 *
 * -DWEFT_DISABLED leaves the types, for the layout of the caller's own, and
 * makes the rest nothing. Objects with and without it can be linked together.
 *
 * C11, C++11, gcc or clang, ELF, 64 bits; pthread is all it needs.
 */
#ifndef WEFT_ASYNC_H
#define WEFT_ASYNC_H

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

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

/* One entry of a root: on the stack of the function that runs callbacks. */
struct weft_entry {
	struct weft_root root;
	struct weft_holder *holder; /* NULL: not entered, or not to be shown */
};

/* One blocking wait: on the stack of the function that waits. */
struct weft_wait {
	struct weft_frame frame; /* the parent of what is waited for */
	struct weft_root root;
};

#ifndef WEFT_DISABLED

/*
 * The address of this very place, for a frame's ip: it lies behind an
 * instruction of this line, so ip - 1 is in this function and on this line.
 */
#if defined(__x86_64__)
#define WEFT_HERE()                                                                      \
	__extension__({                                                                  \
		void *weft_here_;                                                        \
		__asm__ volatile("lea 0(%%rip), %0" : "=r"(weft_here_));                 \
		weft_here_;                                                              \
	})
#elif defined(__aarch64__)
#define WEFT_HERE()                                                                      \
	__extension__({                                                                  \
		void *weft_here_;                                                        \
		__asm__ volatile("adr %0, .+4" : "=r"(weft_here_));                      \
		weft_here_;                                                              \
	})
#else
#define WEFT_HERE() weft_return_address_()
static __attribute__((noinline, unused)) void *weft_return_address_(void)
{
	__asm__ volatile("");
	return __builtin_return_address(0);
}
#endif

/*
 * The place from which the function that uses this was called. For a library's
 * own async_read(), which wants to show its caller and not itself. Keep such a
 * function out of line (noinline); a caller that ends in a call of it may have
 * made that a jump, and then its own caller is shown instead.
 */
#define WEFT_CALLER() __builtin_return_address(0)

/*
 * The pthread key under which each thread keeps its holder, shared with folly
 * and whoever else tells async stacks in this process; 0xffffffff until the
 * first root is entered. Weak, so that all definitions become one.
 *
 * The variable has a second name, which no other object can take over, for the
 * note below. Where folly itself is linked in, its variable wins the first name
 * and this one stays: weft_holder_make_() then keeps the two equal.
 */
#define WEFT_KEY_UNSET_ 0xffffffffu
extern pthread_key_t weft_key_, folly_async_stack_root_tls_key;
__attribute__((weak, used, visibility("hidden"))) pthread_key_t weft_key_ =
	WEFT_KEY_UNSET_;
extern pthread_key_t folly_async_stack_root_tls_key
	__attribute__((weak, visibility("default"), alias("weft_key_")));

/*
 * An ELF note that says where the key is, since a stripped program has no
 * symbols: owner "weft", type 1, 8 bytes: the key's address less that of these
 * 8 bytes. One an object, merged by the linker; R (retain) keeps it through
 * --gc-sections, which otherwise spares only notes outside of a group.
 */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define WEFT_NOTE_FLAGS_ "\"aGR\", %note, weft_note_, comdat"
#endif
#endif
#ifndef WEFT_NOTE_FLAGS_
#define WEFT_NOTE_FLAGS_ "\"a\", %note"
#endif

__asm__(".ifndef weft_note_here_\n"
	".set weft_note_here_, 1\n"
	".pushsection .note.weft, " WEFT_NOTE_FLAGS_ "\n"
	".balign 4\n"
	".4byte 5, 8, 1\n"
	".asciz \"weft\"\n"
	".balign 4\n"
	".8byte weft_key_ - .\n"
	".popsection\n"
	".endif\n");

#ifdef __cplusplus
#define WEFT_CAST_(type, p) static_cast<type>(p)
#else
#define WEFT_CAST_(type, p) ((type)(p))
#endif

/*
 * What a sampler reads is stored with release, so that whatever it leads to is
 * complete for any reader; on x86 that costs nothing. The thread's own later
 * stores must not move up before it either, hence the second half.
 */
#define WEFT_PUBLISH_(where, what)                                                       \
	do {                                                                             \
		__atomic_store_n(where, what, __ATOMIC_RELEASE);                         \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);                                 \
	} while (0)

/*
 * folly's own look-up, when folly is in this process. Its first call on a
 * thread makes folly's key and puts folly's holder into the slot.
 */
__attribute__((weak)) struct weft_root *
weft_folly_current_root_(void) __asm__("_ZN5folly27tryGetCurrentAsyncStackRootEv");

/* Makes the key if nobody did. False: no key is to be had. */
static inline int weft_key_make_(void)
{
	static char refused; /* so that a full table of keys is searched only once */
	pthread_key_t unset = WEFT_KEY_UNSET_;
	pthread_key_t made;

	if (__atomic_load_n(&folly_async_stack_root_tls_key, __ATOMIC_ACQUIRE) != unset)
		return 1;
	if (__atomic_load_n(&refused, __ATOMIC_RELAXED))
		return 0;
	/* free() as destructor: it is there even after this code was unloaded */
	if (pthread_key_create(&made, free)) {
		__atomic_store_n(&refused, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (!__atomic_compare_exchange_n(&folly_async_stack_root_tls_key, &unset, made, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		pthread_key_delete(made); /* another thread was first: take its key */
	return 1;
}

/*
 * A thread's first root: finds the holder or makes one. NULL: none to be had.
 * folly goes first, since it would make its key and its holder over ours.
 */
__attribute__((noinline, cold, unused)) static struct weft_holder *weft_holder_make_(void)
{
	struct weft_holder *holder;
	pthread_key_t key;

	if (weft_folly_current_root_)
		(void)weft_folly_current_root_();
	if (!weft_key_make_())
		return NULL;

	key = __atomic_load_n(&folly_async_stack_root_tls_key, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&weft_key_, __ATOMIC_RELAXED) != key)
		__atomic_store_n(&weft_key_, key, __ATOMIC_RELAXED);

	holder = WEFT_CAST_(struct weft_holder *, pthread_getspecific(key));
	if (holder)
		return holder;
	holder = WEFT_CAST_(struct weft_holder *, calloc(1, sizeof(*holder)));
	if (holder && pthread_setspecific(key, holder)) {
		free(holder);
		return NULL;
	}
	return holder;
}

/* This thread's holder, or NULL. Key and slot can change: never kept. */
static inline struct weft_holder *weft_holder_find_(void)
{
	pthread_key_t key =
		__atomic_load_n(&folly_async_stack_root_tls_key, __ATOMIC_ACQUIRE);

	if (key == WEFT_KEY_UNSET_)
		return NULL;
	return WEFT_CAST_(struct weft_holder *, pthread_getspecific(key));
}

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
	entry->holder = holder;
	entry->root.top = frame;
	entry->root.fp = fp;
	entry->root.ra = ra;
	entry->root.next =
		holder ? __atomic_load_n(&holder->root, __ATOMIC_RELAXED) : NULL;
	if (holder)
		WEFT_PUBLISH_(&holder->root, &entry->root);
}

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

/* Ends it. The frame is not touched: its callback may have freed it. Leaving
 * twice does nothing. */
static inline void weft_root_leave(struct weft_entry *entry)
{
	struct weft_holder *holder = entry->holder;

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
	weft_frame_init(frame, root ? root->top : NULL, ip);
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * The running frame has ended: its parent runs again. Then its memory may go.
 * A frame that is not what root runs is left alone; NULL root: nothing.
 */
static inline void weft_frame_pop(struct weft_root *root, struct weft_frame *frame)
{
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
	if (root)
		WEFT_PUBLISH_(&root->top, frame);
}

/*
 * Nobody waits for this any more: its chain ends at the place that started it.
 * Call it before the parent's memory goes. At any time; twice is the same.
 */
static inline void weft_frame_detach(struct weft_frame *frame)
{
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

/* Ends it: after the operation has ended or was detached, before returning. */
static inline void weft_wait_end(struct weft_wait *wait)
{
	WEFT_PUBLISH_(&wait->root.top, WEFT_CAST_(struct weft_frame *, NULL));
	WEFT_PUBLISH_(&wait->frame.root, WEFT_CAST_(struct weft_root *, NULL));
}

#else /* WEFT_DISABLED: the same names, evaluating their arguments, no more */

#define WEFT_HERE()   ((void *)0)
#define WEFT_CALLER() ((void *)0)

#define weft_root_current()		((struct weft_root *)0)
#define weft_frame_current()		((struct weft_frame *)0)
#define weft_root_enter(entry, frame)	((void)(entry), (void)(frame))
#define weft_root_leave(entry)		((void)(entry))
#define WEFT_ROOT_SCOPE(frame)		((void)(frame))
#define weft_frame_init(f, parent, ip)	((void)(f), (void)(parent), (void)(ip))
#define weft_frame_mark(frame)		((void)(frame))
#define weft_frame_push(root, f, ip)	((void)(root), (void)(f), (void)(ip))
#define weft_frame_pop(root, frame)	((void)(root), (void)(frame))
#define weft_frame_suspend(root, frame) ((void)(root), (void)(frame))
#define weft_frame_resume(root, frame)	((void)(root), (void)(frame))
#define weft_frame_detach(frame)	((void)(frame))
#define weft_wait_begin(wait)		((void)(wait))
#define weft_wait_end(wait)		((void)(wait))

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif

#endif
