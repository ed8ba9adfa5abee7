/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: the functions on the stack where an
 * operation is queued. They are found by frame pointer: the direct caller always, but
 * behind it code without frame pointers is missing, and so is its caller; and what such
 * code has in that register may look like a frame record, and show what called nobody.
 * The walk never reads outside this thread's stack, or below the current function.
 */
#ifndef WEFT_ASYNC_CAPTURE_H
#define WEFT_ASYNC_CAPTURE_H

/* Theirs, by other names, since strict C hides their declarations. */
int weft_getattr_(pthread_t, pthread_attr_t *) __asm__("pthread_getattr_np");
int weft_getstack_(const pthread_attr_t *, void **,
		   size_t *) __asm__("pthread_attr_getstack");

/* The end of the stack that contains sp; 0: not a thread's stack. */
static inline uintptr_t weft_stack_end_(uintptr_t sp)
{
	static __thread uintptr_t low, end;
	pthread_attr_t attr;
	void *start;
	size_t bytes;

	if (__builtin_expect(!end, 0)) {
		end = 1; /* found once; after a failure no address is within it */
		if (!weft_getattr_(pthread_self(), &attr)) {
			if (!weft_getstack_(&attr, &start, &bytes)) {
				low = WEFT_BITS_(uintptr_t, start);
				end = low + bytes;
			}
			(void)pthread_attr_destroy(&attr);
		}
	}
	return sp >= low && sp < end ? end : 0;
}

/* A return address as it was before it was signed (arm64). */
static inline void *weft_unsigned_(void *address)
{
#if defined(__aarch64__)
	register void *lr __asm__("x30") = address;

	__asm__("hint #7" : "+r"(lr)); /* xpaclri */
	return lr;
#else
	return address;
#endif
}

/*
 * Walks up from fp. A sanitizer would report the memory between two frames as out
 * of bounds, and writes to it as a race; all of it is this thread's own stack.
 */
__attribute__((__noinline__, __unused__, __no_sanitize__("address"),
	       __no_sanitize__("thread"), __no_sanitize__("undefined"))) static void
weft_capture_(struct weft_frame *frame, struct weft_frame *callers, unsigned int n,
	      void *fp)
{
	struct weft_root *root = weft_root_current();
	uintptr_t at = WEFT_BITS_(uintptr_t, fp), next;
	uintptr_t dispatcher = root ? WEFT_BITS_(uintptr_t, root->fp) : 0;
	uintptr_t end = weft_stack_end_(at);
	unsigned int found = 0;
	int is_lost;

	while (found < n && at < end && end - at >= 16 && at != dispatcher) {
		next = WEFT_BITS_(const uintptr_t *, at)[0];
		/* what called the dispatcher did not ask for this operation */
		if (dispatcher > at && next == dispatcher)
			break;
		is_lost =
			next <= at || next & 7 || (dispatcher > at && next > dispatcher);
		/* the first return address is this function's own, whatever follows */
		if (is_lost && found)
			break;
		callers[found++].ip = weft_unsigned_(WEFT_BITS_(void *const *, at)[1]);
		if (is_lost)
			break;
		at = next;
	}
	for (unsigned int i = 0; i < found; i++) {
		callers[i].parent = i + 1 < found ? &callers[i + 1] : weft_frame_asker();
		callers[i].root = WEFT_NULL_;
	}
	if (found)
		__atomic_store_n(&frame->parent, callers, __ATOMIC_RELEASE);
}

/*
 * weft_frame_mark(), and also keeps the functions that called this one, up to
 * the dispatcher's callback or the thread's start, at most n of them
 * (WEFT_OP_CALLERS for an op). Use it in functions that serve many callers, such
 * as the submit function of a queue or a timer. Run the frame (&op->frame) as any
 * other.
 *
 * It costs one read of memory per caller, and once per thread a look-up of the
 * stack's end. On a stack that is not a thread's (a fiber's, a signal stack) it
 * does only what weft_frame_mark() does. Not for signal handlers.
 */
#define weft_capture(op) weft_capture_into(&(op)->frame, (op)->callers, WEFT_OP_CALLERS)

#define weft_capture_into(frame, callers, n)                                             \
	do {                                                                             \
		struct weft_frame *weft_captured_ = (frame);                             \
		weft_frame_mark(weft_captured_);                                         \
		weft_capture_(weft_captured_, callers, n, __builtin_frame_address(0));   \
	} while (0)

#endif
