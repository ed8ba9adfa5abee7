/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another library that tells async stacks by folly's rules: a weak variable for
 * the key, made under a once-flag that knows of nobody else, a thread-local holder
 * put into the slot without a look at what is there, and the function by which
 * others ask for a thread's root. Ours, to stand where folly would.
 */
#include "like_folly.h"

#include <stddef.h>

struct holder {
	struct weft_root *root;
};

pthread_key_t folly_async_stack_root_tls_key __attribute__((weak)) = 0xffffffffu;
struct weft_root *folly_current(void) __asm__("_ZN5folly27tryGetCurrentAsyncStackRootEv");

static void make_key(void)
{
	pthread_key_create(&folly_async_stack_root_tls_key, NULL);
}

static struct holder *find_holder(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread struct holder holder;
	static __thread char is_told;

	if (!is_told) {
		pthread_once(&once, make_key);
		pthread_setspecific(folly_async_stack_root_tls_key, &holder);
		is_told = 1;
	}
	return &holder;
}

struct weft_root *folly_current(void)
{
	return find_holder()->root;
}

void folly_enter(struct weft_root *root)
{
	struct holder *holder = find_holder();

	root->top = NULL;
	root->next = holder->root;
	root->fp = __builtin_frame_address(0);
	root->ra = __builtin_return_address(0);
	holder->root = root;
}

void folly_leave(struct weft_root *root)
{
	find_holder()->root = root->next;
}
