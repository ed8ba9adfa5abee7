/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: places in code, stores that a
 * sampler may read at any moment, and what -DWEFT_CHECKS adds.
 */
#ifndef WEFT_ASYNC_BASE_H
#define WEFT_ASYNC_BASE_H

#ifndef WEFT_DISABLED
/*
 * The address of this line, for a frame's ip. It lies after an instruction of
 * this line, so ip - 1 is in this function and on this line.
 */
#define WEFT_HERE() WEFT_PLACE_()

/*
 * The address that called the function that uses this: for a library's own
 * async_read(), which shows its caller instead of itself. Keep such a function
 * out of line (noinline). If a caller ends with a call of it, the compiler may
 * turn the call into a jump; then the caller's own caller is shown instead.
 */
#define WEFT_CALLER() __builtin_return_address(0)
#endif

#if defined(__x86_64__)
#define WEFT_PLACE_()                                                                    \
	__extension__({                                                                  \
		void *weft_here_;                                                        \
		__asm__ volatile("lea {0(%%rip), %0|%0, [rip + 0]}" : "=r"(weft_here_)); \
		weft_here_;                                                              \
	})
#elif defined(__aarch64__)
#define WEFT_PLACE_()                                                                    \
	__extension__({                                                                  \
		void *weft_here_;                                                        \
		__asm__ volatile("adr %0, .+4" : "=r"(weft_here_));                      \
		weft_here_;                                                              \
	})
#else
#define WEFT_PLACE_() weft_return_address_()
static __attribute__((__noinline__, __unused__)) void *weft_return_address_(void)
{
	__asm__ volatile("");
	return __builtin_return_address(0);
}
#endif

#ifdef __cplusplus
#define WEFT_CAST_(type, p) static_cast<type>(p)
#define WEFT_BITS_(type, p) reinterpret_cast<type>(p)
#else
#define WEFT_CAST_(type, p) ((type)(p))
#define WEFT_BITS_(type, p) ((type)(p))
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
 * With WEFT_CHECKS a misuse ends the program with a message on stderr. The
 * checks follow lists and chains, so they cost time proportional to their
 * length, but at most WEFT_CHECK_STEPS_ steps each.
 */
#ifdef WEFT_CHECKS
#include <stdio.h>
__attribute__((__unused__)) static int weft_chain_ended_(const struct weft_frame *chain);
#define WEFT_CHECK_STEPS_	  1024
#define WEFT_CHECK_(ok, sentence) ((ok) ? (void)0 : weft_misused_(sentence))

__attribute__((__noinline__, __cold__, __noreturn__, __unused__)) static void
weft_misused_(const char *sentence)
{
	fprintf(stderr, "weft: %s\n", sentence);
	abort();
}

/* Is this root in a list of roots, and as which? -1: it is not. */
__attribute__((__unused__)) static int weft_root_depth_(const struct weft_root *first,
							const struct weft_root *root)
{
	int depth = 0;

	for (; first && depth < WEFT_CHECK_STEPS_; first = first->next, depth++)
		if (first == root)
			return depth;
	return -1;
}

__attribute__((__unused__)) static int weft_chain_has_(const struct weft_frame *chain,
						       const struct weft_frame *frame)
{
	for (int i = 0; chain && i < WEFT_CHECK_STEPS_; chain = chain->parent, i++)
		if (chain == frame)
			return 1;
	return 0;
}

/* Does it lie where functions were that have returned? Below the frame of one that is
 * called now: not further than they may have been, since other stacks lie there. */
#define WEFT_DEAD_BYTES_ 4096
__attribute__((__noinline__, __unused__)) static int
weft_is_dead_(const struct weft_frame *frame)
{
	const void *fp = __builtin_frame_address(0);
	uintptr_t here = WEFT_BITS_(uintptr_t, fp), at = WEFT_BITS_(uintptr_t, frame);

	return frame && at < here && here - at < WEFT_DEAD_BYTES_;
}
#else
#define WEFT_CHECK_(ok, sentence) ((void)0)
#endif

#endif
