/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: the pthread key that all code with
 * async stacks in a process shares, the note that says where it is, and each
 * thread's holder.
 */
#ifndef WEFT_ASYNC_KEY_H
#define WEFT_ASYNC_KEY_H

/*
 * The pthread key under which each thread keeps its holder, shared with folly
 * and any other code with async stacks in this process; 0xffffffff until the
 * first root is entered. Weak, so that all definitions become one.
 *
 * The variable has a second name, which no other object can take over, for the
 * note below. Where folly itself is linked in, its variable wins the first name
 * and this one stays: weft_holder_make_() then keeps the two equal.
 */
#define WEFT_KEY_UNSET_ 0xffffffffu
extern pthread_key_t weft_key_ __attribute__((__visibility__("hidden")));

#if !WEFT_DEFINES_
extern pthread_key_t folly_async_stack_root_tls_key
	__attribute__((__visibility__("default")));
#else
__attribute__((__weak__, __used__, __visibility__("hidden"))) pthread_key_t weft_key_ =
	WEFT_KEY_UNSET_;
extern pthread_key_t folly_async_stack_root_tls_key
	__attribute__((__weak__, __visibility__("default"), __alias__("weft_key_")));

/*
 * An ELF note that says where the key is, since a stripped program has no
 * symbols: owner "weft", type 1, 8 bytes: the key's address less that of these
 * 8 bytes. One an object, merged by the linker; R (retain) keeps it through
 * --gc-sections, which otherwise spares only notes outside of a group.
 */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define WEFT_NOTE_FLAGS_(group) "\"aGR\", %note, " group ", comdat"
#endif
#endif
#ifndef WEFT_NOTE_FLAGS_
#define WEFT_NOTE_FLAGS_(group) "\"a\", %note"
#endif

__asm__(".ifndef weft_note_here_\n"
	".set weft_note_here_, 1\n"
	".pushsection .note.weft, " WEFT_NOTE_FLAGS_(
		"weft_note_") "\n"
			      ".balign 4\n"
			      ".4byte 5, 8, 1\n"
			      ".asciz \"weft\"\n"
			      ".balign 4\n"
			      ".8byte weft_key_ - .\n"
			      ".popsection\n"
			      ".endif\n");
#endif

/*
 * folly's own look-up, when folly is in this process. Its first call on a
 * thread makes folly's key and puts folly's holder into the slot.
 */
__attribute__((__weak__)) struct weft_root *
weft_folly_current_root_(void) __asm__("_ZN5folly27tryGetCurrentAsyncStackRootEv");

/* Makes the key unless it exists. False: no key is available. */
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
 * A thread's first root: finds the holder or makes one. NULL: not possible.
 * folly goes first, since it would replace our key and our holder with its own.
 */
__attribute__((__noinline__, __cold__, __unused__)) static struct weft_holder *
weft_holder_make_(void)
{
	struct weft_holder *holder;
	pthread_key_t key;

	if (weft_folly_current_root_)
		(void)weft_folly_current_root_();
	if (!weft_key_make_())
		return WEFT_NULL_;

	key = __atomic_load_n(&folly_async_stack_root_tls_key, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&weft_key_, __ATOMIC_RELAXED) != key)
		__atomic_store_n(&weft_key_, key, __ATOMIC_RELAXED);

	holder = WEFT_CAST_(struct weft_holder *, pthread_getspecific(key));
	if (holder)
		return holder;
	holder = WEFT_CAST_(struct weft_holder *, calloc(1, sizeof(*holder)));
	if (holder && pthread_setspecific(key, holder)) {
		free(holder);
		return WEFT_NULL_;
	}
	return holder;
}

/* This thread's holder, or NULL. Key and slot can change, so never cache it. */
static inline struct weft_holder *weft_holder_find_(void)
{
	pthread_key_t key =
		__atomic_load_n(&folly_async_stack_root_tls_key, __ATOMIC_ACQUIRE);

	if (key == WEFT_KEY_UNSET_)
		return WEFT_NULL_;
	return WEFT_CAST_(struct weft_holder *, pthread_getspecific(key));
}

#endif
