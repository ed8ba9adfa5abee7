/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/fiber.h>, which includes it: the code around a switch. The roots
 * entered on a fiber's stack go with the fiber, and the sanitizers are told which
 * stack is in use.
 */
#ifndef WEFT_FIBER_PARTS_H
#define WEFT_FIBER_PARTS_H

/* Kept on the resumer's stack across the switch. */
struct weft_fiber_outside_ {
	struct weft_holder *holder;
	struct weft_root *root;
};

static inline int weft_fiber_is_here_(const struct weft_fiber *fiber, void *fp)
{
	uintptr_t low = WEFT_BITS_(uintptr_t, fiber->low);

	return fiber->state == WEFT_FIBER_RUNNING &&
	       WEFT_BITS_(uintptr_t, fp) - low < WEFT_BITS_(uintptr_t, fiber) - low;
}

#ifndef WEFT_DISABLED

#define WEFT_FIBER_ROOTS_MAX_ 1024

/*
 * Puts roots, a list taken off a thread, in front of this thread's roots. An entry
 * knows the holder from which leaving removes it; from now on this is the holder
 * of this thread. (folly's own roots look up theirs.)
 */
__attribute__((__noinline__, __unused__)) static struct weft_holder *
weft_fiber_put_roots_(struct weft_root *roots, struct weft_holder *was)
{
	struct weft_holder *holder = weft_holder_make_();
	struct weft_root *last = roots;

	if (!holder)
		return WEFT_NULL_;
	for (;; last = last->next) {
		struct weft_entry *entry =
			WEFT_CAST_(struct weft_entry *, WEFT_CAST_(void *, last));

		if (was != holder && entry->holder == was)
			entry->holder = holder;
		if (!last->next)
			break;
	}
	last->next = holder->root;
	WEFT_PUBLISH_(&holder->root, roots);
	return holder;
}

/* Removes the roots entered since; NULL: none, or not distinguishable from the rest. */
__attribute__((__noinline__, __unused__)) static struct weft_root *
weft_fiber_take_roots_(struct weft_holder *holder, struct weft_root *outside)
{
	struct weft_root *roots = holder->root, *last = roots;

	for (int i = 0; last && last->next != outside; i++)
		last = i < WEFT_FIBER_ROOTS_MAX_ ? last->next : WEFT_NULL_;
	WEFT_PUBLISH_(&holder->root, outside);
	if (!last)
		return WEFT_NULL_;
	last->next = WEFT_NULL_;
	return roots;
}

static inline void weft_roots_in_(struct weft_root **roots, struct weft_holder *was,
				  struct weft_fiber_outside_ *outside)
{
	outside->holder = weft_holder_find_();
	outside->root = outside->holder ? outside->holder->root : WEFT_NULL_;
	if (__builtin_expect(!!*roots, 0)) {
		outside->holder = weft_fiber_put_roots_(*roots, was);
		*roots = WEFT_NULL_;
	}
}

static inline void weft_roots_out_(struct weft_root **roots, struct weft_holder **was,
				   const struct weft_fiber_outside_ *outside)
{
	struct weft_holder *holder = outside->holder;

	if (!holder) /* the thread's first root may have been entered meanwhile */
		holder = weft_holder_find_();
	if (__builtin_expect(holder && holder->root != outside->root, 0)) {
		*roots = weft_fiber_take_roots_(holder, outside->root);
		*was = holder;
	}
}

static inline void weft_fiber_roots_in_(struct weft_fiber *fiber,
					struct weft_fiber_outside_ *outside)
{
	if (!(fiber->flags & WEFT_FIBER_NO_ROOTS))
		weft_roots_in_(&fiber->roots, fiber->holder, outside);
}

static inline void weft_fiber_roots_out_(struct weft_fiber *fiber,
					 const struct weft_fiber_outside_ *outside)
{
	if (!(fiber->flags & WEFT_FIBER_NO_ROOTS))
		weft_roots_out_(&fiber->roots, &fiber->holder, outside);
}

#else

#define weft_roots_in_(roots, was, outside)   ((void)(roots), (void)(outside))
#define weft_roots_out_(roots, was, outside)  ((void)(roots), (void)(outside))
#define weft_fiber_roots_in_(fiber, outside)  ((void)(fiber), (void)(outside))
#define weft_fiber_roots_out_(fiber, outside) ((void)(fiber), (void)(outside))

#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_FIBER_ASAN_
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_FIBER_TSAN_
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WEFT_FIBER_ASAN_
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_FIBER_TSAN_
#endif

/*
 * sanitizer[]: with the address sanitizer the fiber's fake stack, its resumer's
 * fake stack, its resumer's stack and bytes; with the thread sanitizer the
 * fiber's and its resumer's.
 */
#if defined(WEFT_FIBER_ASAN_)
void __sanitizer_start_switch_fiber(void **fake, const void *low, size_t bytes);
void __sanitizer_finish_switch_fiber(void *fake, const void **low, size_t *bytes);

static inline void weft_fiber_tell_in_(struct weft_fiber *fiber)
{
	__sanitizer_start_switch_fiber(
		&fiber->sanitizer[1], fiber->low,
		WEFT_CAST_(size_t, WEFT_BITS_(char *, fiber) - fiber->low));
}

static inline void weft_fiber_told_back_(struct weft_fiber *fiber)
{
	__sanitizer_finish_switch_fiber(fiber->sanitizer[1], WEFT_NULL_, WEFT_NULL_);
}

/* fake: NULL when the fiber ends */
static inline void weft_fiber_tell_out_(struct weft_fiber *fiber, void **fake)
{
	__sanitizer_start_switch_fiber(fake, fiber->sanitizer[2],
				       WEFT_BITS_(size_t, fiber->sanitizer[3]));
}

static inline void weft_fiber_told_in_(struct weft_fiber *fiber)
{
	const void *low;
	size_t bytes;

	__sanitizer_finish_switch_fiber(fiber->sanitizer[0], &low, &bytes);
	fiber->sanitizer[2] = WEFT_BITS_(void *, WEFT_BITS_(uintptr_t, low));
	fiber->sanitizer[3] = WEFT_BITS_(void *, bytes);
}
#elif defined(WEFT_FIBER_TSAN_)
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned int flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned int flags);

static inline __attribute__((__always_inline__)) void
weft_fiber_tell_in_(struct weft_fiber *fiber)
{
	fiber->sanitizer[1] = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(fiber->sanitizer[0], 0);
}

static inline __attribute__((__always_inline__)) void
weft_fiber_tell_out_(struct weft_fiber *fiber, void **fake)
{
	(void)fake;
	__tsan_switch_to_fiber(fiber->sanitizer[1], 0);
}

#define weft_fiber_told_back_(fiber) ((void)(fiber))
#define weft_fiber_told_in_(fiber)   ((void)(fiber))
#else
#define weft_fiber_tell_in_(fiber)	  ((void)(fiber))
#define weft_fiber_told_back_(fiber)	  ((void)(fiber))
#define weft_fiber_tell_out_(fiber, fake) ((void)(fiber))
#define weft_fiber_told_in_(fiber)	  ((void)(fiber))
#endif

#endif
