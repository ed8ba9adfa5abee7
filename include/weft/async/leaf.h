/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it: a registry of operations that wait.
 *
 * A reader finds a running operation through its thread, but a waiting operation
 * only here. Compiled with -DWEFT_REGISTRY, the program lists each frame that
 * waits. A debugger, the program's own dump, or an outside reader iterates over
 * the lists and follows the chain of each frame. Without it, these do nothing.
 *
 * For outside readers, an ELF note describes the layout: owner "weft", type 2, 32
 * bytes in the machine's byte order:
 *
 *	0   u32  version: 1
 *	4   u32  number of lists
 *	8   u32  bytes from one list to the next
 *	12  u32  offset of the first leaf's address in a list
 *	16  u32  offset of the next leaf's address in a leaf; 0 ends the list
 *	20  u32  offset of the frame's address in a leaf
 *	24  u64  address of the first list, minus the address of these 8 bytes
 *
 * Each object (program or library) that lists anything has one note and its own
 * lists. A thread uses one of the lists, chosen by its pthread_self(); threads may
 * share a list. An outside reader takes no lock: it limits the number of leaves
 * that it follows, and reads a list again if it changed.
 */
#ifndef WEFT_ASYNC_LEAF_H
#define WEFT_ASYNC_LEAF_H

#ifdef WEFT_REGISTRY

#define WEFT_LEAF_LISTS_ 64

struct weft_leaf_list {
	struct weft_leaf *first;
	pthread_mutex_t lock;
} __attribute__((__aligned__(64)));

extern struct weft_leaf_list weft_leaf_lists_[WEFT_LEAF_LISTS_]
	__attribute__((__visibility__("hidden")));
/* 1: all mutexes are made, and fork() knows them */
extern int weft_leaf_ready_ __attribute__((__visibility__("hidden")));

#if WEFT_DEFINES_
__attribute__((__weak__, __visibility__("hidden"))) struct weft_leaf_list
	weft_leaf_lists_[WEFT_LEAF_LISTS_];
__attribute__((__weak__, __visibility__("hidden"))) int weft_leaf_ready_;

__asm__(".ifndef weft_leaf_note_here_\n"
	".set weft_leaf_note_here_, 1\n"
	".pushsection .note.weft.leaf, " WEFT_NOTE_FLAGS_(
		"weft_leaf_note_") "\n"
				   ".balign 4\n"
				   ".4byte 5, 32, 2\n"
				   ".asciz \"weft\"\n"
				   ".balign 4\n"
				   ".4byte 1, 64, 64, 0, 0, 16\n"
				   ".8byte weft_leaf_lists_ - .\n"
				   ".popsection\n"
				   ".endif\n");
#endif

typedef char weft_leaf_layout_[sizeof(struct weft_leaf_list) == 64 &&
					       offsetof(struct weft_leaf, next) == 0 &&
					       offsetof(struct weft_leaf, frame) == 16
				       ? 1
				       : -1];

/* A fork between two stores of another thread would leave its lock locked forever. */
__attribute__((__unused__)) static void weft_leaf_lock_all_(void)
{
	for (int i = 0; i < WEFT_LEAF_LISTS_; i++)
		(void)pthread_mutex_lock(&weft_leaf_lists_[i].lock);
}

__attribute__((__unused__)) static void weft_leaf_unlock_all_(void)
{
	for (int i = WEFT_LEAF_LISTS_; i-- > 0;)
		(void)pthread_mutex_unlock(&weft_leaf_lists_[i].lock);
}

__attribute__((__noinline__, __cold__, __unused__)) static void
weft_leaf_make_ready_(void)
{
	/* zeroes are a made mutex in glibc and in musl */
	struct weft_leaf_list *first = &weft_leaf_lists_[0];

	(void)pthread_mutex_lock(&first->lock);
	if (!weft_leaf_ready_) {
		(void)pthread_atfork(weft_leaf_lock_all_, weft_leaf_unlock_all_,
				     weft_leaf_unlock_all_);
		__atomic_store_n(&weft_leaf_ready_, 1, __ATOMIC_RELEASE);
	}
	(void)pthread_mutex_unlock(&first->lock);
}

/*
 * Lists a frame that waits. The caller owns leaf, usually next to the frame, and
 * keeps it in place until it is removed, on any thread. Initialize it with zeros.
 * If it is already listed: nothing.
 */
static inline void weft_leaf_add(struct weft_leaf *leaf, const struct weft_frame *frame)
{
	pthread_t self = pthread_self();
	uint64_t page;
	struct weft_leaf_list *list;

	WEFT_CHECK_(!leaf->list, "weft_leaf_add: this leaf is listed already");
	if (leaf->list)
		return;
	if (__builtin_expect(!__atomic_load_n(&weft_leaf_ready_, __ATOMIC_ACQUIRE), 0))
		weft_leaf_make_ready_();
	/* threads' descriptors lie whole pages apart */
	page = WEFT_BITS_(uintptr_t, self) >> 12;
	list = &weft_leaf_lists_[page * 0x9e3779b97f4a7c15ULL >> 58];
	(void)pthread_mutex_lock(&list->lock);
	leaf->frame = frame;
	leaf->list = list;
	leaf->prev = WEFT_NULL_;
	leaf->next = list->first;
	if (leaf->next)
		leaf->next->prev = leaf;
	WEFT_PUBLISH_(&list->first, leaf);
	(void)pthread_mutex_unlock(&list->lock);
}

/* Call it before the frame runs again or is freed. Not listed: nothing. */
static inline void weft_leaf_remove(struct weft_leaf *leaf)
{
	struct weft_leaf_list *list = leaf->list;

	if (!list)
		return;
	(void)pthread_mutex_lock(&list->lock);
	if (leaf->next)
		leaf->next->prev = leaf->prev;
	WEFT_PUBLISH_(leaf->prev ? &leaf->prev->next : &list->first, leaf->next);
	(void)pthread_mutex_unlock(&list->lock);
	leaf->list = WEFT_NULL_;
}

/*
 * Calls each(arg, frame) for every frame listed by this object's code, holding a
 * lock. each may read the frame and its chain, but must not list anything.
 */
static inline void weft_leaf_each(void (*each)(void *arg, const struct weft_frame *frame),
				  void *arg)
{
	for (int i = 0; i < WEFT_LEAF_LISTS_; i++) {
		struct weft_leaf_list *list = &weft_leaf_lists_[i];

		(void)pthread_mutex_lock(&list->lock);
		for (struct weft_leaf *leaf = list->first; leaf; leaf = leaf->next)
			each(arg, leaf->frame);
		(void)pthread_mutex_unlock(&list->lock);
	}
}

#else

#define weft_leaf_add(leaf, frame) ((void)(leaf), (void)(frame))
#define weft_leaf_remove(leaf)	   ((void)(leaf))
#define weft_leaf_each(each, arg)  ((void)(each), (void)(arg))

#endif

#endif
