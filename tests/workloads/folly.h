/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program linked with folly looks like from outside, in C and by its
 * own rules, with nothing of ours: the key is made under a once-flag by the
 * first holder, a thread's holder is a thread-local object that enters its own
 * address into the slot when it is first used, roots are scoped, a detached
 * chain ends in a frame inside detached_task(), and marker frames carry a
 * cookie, a variable's value, in place of an address.
 *
 * KEY_WEAK, KEY_UNIQUE, KEY_LOCAL, KEY_GLOBAL: how the linker sees the key. None
 * of them: only the structures.
 */
#ifndef WORKLOADS_FOLLY_H
#define WORKLOADS_FOLLY_H

#include "work.h"

#include <stdint.h>

struct AsyncStackRoot;

struct AsyncStackFrame {
	struct AsyncStackFrame *parentFrame;
	void *instructionPointer;
	struct AsyncStackRoot *stackRoot;
};

struct AsyncStackRoot {
	_Atomic(struct AsyncStackFrame *) topFrame;
	struct AsyncStackRoot *nextRoot;
	void *stackFramePtr, *returnAddress;
};

struct AsyncStackRootHolder {
	_Atomic(struct AsyncStackRoot *) value;
	bool constructed;
};

#if defined(KEY_UNIQUE)
#define KEY_IS_HERE
__asm__(".pushsection .data\n"
	".globl folly_async_stack_root_tls_key\n"
	".type folly_async_stack_root_tls_key, %gnu_unique_object\n"
	".size folly_async_stack_root_tls_key, 4\n"
	".p2align 2\n"
	"folly_async_stack_root_tls_key: .4byte 0xffffffff\n"
	".popsection\n");
extern pthread_key_t folly_async_stack_root_tls_key;
#elif defined(KEY_LOCAL)
#define KEY_IS_HERE
static pthread_key_t folly_async_stack_root_tls_key = 0xffffffff;
#elif defined(KEY_WEAK)
#define KEY_IS_HERE
extern pthread_key_t folly_async_stack_root_tls_key;
__attribute__((weak)) pthread_key_t folly_async_stack_root_tls_key = 0xffffffff;
#elif defined(KEY_GLOBAL)
#define KEY_IS_HERE
extern pthread_key_t folly_async_stack_root_tls_key;
pthread_key_t folly_async_stack_root_tls_key = 0xffffffff;
#endif

#ifdef KEY_IS_HERE
static pthread_once_t initialiseTlsKeyFlag = PTHREAD_ONCE_INIT;
static __thread struct AsyncStackRootHolder currentThreadAsyncStackRoot = { NULL, false };

/* folly's own words: all that a stripped program has of the key's name. */
static void initialiseTlsKey(void)
{
	int result = pthread_key_create(&folly_async_stack_root_tls_key, NULL);

	if (result) {
		fprintf(stderr,
			"Failed to initialise folly_async_stack_root_tls_key: (error: "
			"%d)\n",
			result);
		abort();
	}
}

/* What the compiler calls before each use of a thread-local with a constructor. */
static FN struct AsyncStackRootHolder *current_holder(void)
{
	struct AsyncStackRootHolder *holder = &currentThreadAsyncStackRoot;

	if (!holder->constructed) {
		holder->constructed = true;
		pthread_once(&initialiseTlsKeyFlag, initialiseTlsKey);
		pthread_setspecific(folly_async_stack_root_tls_key, holder);
	}
	return holder;
}

#define FOLLY_SCOPED_ROOT(root)                                                          \
	folly_root_enter(root, __builtin_frame_address(0), __builtin_return_address(0))

INLINE void folly_root_enter(struct AsyncStackRoot *root, void *fp, void *ra)
{
	struct AsyncStackRootHolder *holder = current_holder();

	atomic_init(&root->topFrame, NULL);
	root->stackFramePtr = fp;
	root->returnAddress = ra;
	root->nextRoot = atomic_load_explicit(&holder->value, memory_order_relaxed);
	atomic_store_explicit(&holder->value, root, memory_order_release);
	AFTER();
}

INLINE void folly_root_leave(struct AsyncStackRoot *root)
{
	AFTER();
	atomic_store_explicit(&current_holder()->value, root->nextRoot,
			      memory_order_relaxed);
}

INLINE void folly_activate(struct AsyncStackRoot *root, struct AsyncStackFrame *frame)
{
	frame->stackRoot = root;
	atomic_store_explicit(&root->topFrame, frame, memory_order_release);
	AFTER();
}

/* The caller's operation begins another, and is what runs no longer. */
INLINE void folly_push(struct AsyncStackFrame *caller, struct AsyncStackFrame *callee,
		       void *ip)
{
	struct AsyncStackRoot *root = caller->stackRoot;

	callee->parentFrame = caller;
	callee->instructionPointer = ip;
	callee->stackRoot = root;
	caller->stackRoot = NULL;
	atomic_store_explicit(&root->topFrame, callee, memory_order_release);
	AFTER();
}

INLINE void folly_pop(struct AsyncStackFrame *callee)
{
	struct AsyncStackRoot *root = callee->stackRoot;
	struct AsyncStackFrame *caller = callee->parentFrame;

	AFTER();
	caller->stackRoot = root;
	callee->stackRoot = NULL;
	atomic_store_explicit(&root->topFrame, caller, memory_order_release);
	AFTER();
}

INLINE void folly_deactivate(struct AsyncStackRoot *root, struct AsyncStackFrame *frame)
{
	AFTER();
	frame->stackRoot = NULL;
	atomic_store_explicit(&root->topFrame, NULL, memory_order_relaxed);
	AFTER();
}

#endif

INLINE void folly_frame(struct AsyncStackFrame *frame, struct AsyncStackFrame *parent,
			void *ip)
{
	frame->parentFrame = parent;
	frame->instructionPointer = ip;
	frame->stackRoot = NULL;
}

INLINE void *inside(void *function)
{
	return (char *)function + 4;
}

#endif
