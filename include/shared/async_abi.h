/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * folly's async stack structures as they lie in a process's memory
 * (folly/tracing/AsyncStack.h), read by both halves. All pointers are user
 * addresses and may be garbage.
 */
#ifndef WEFT_SHARED_ASYNC_ABI_H
#define WEFT_SHARED_ASYNC_ABI_H

#define ASYNC_KEY_SYMBOL       "folly_async_stack_root_tls_key"
#define ASYNC_METADATA_COOKIE  "folly_async_stack_metadata_frame_cookie"
#define ASYNC_SUSPENDED_COOKIE "__folly_suspended_frame_cookie"
#define ASYNC_KEY_UNSET	       0xffffffffu
#define ASYNC_KEYS	       1024 /* PTHREAD_KEYS_MAX of glibc; musl has 128 */

/* ELF note that our headers emit: owner "weft", this type, and an 8-byte
 * descriptor: address of the key minus address of the descriptor. */
#define ASYNC_NOTE_OWNER "weft"
#define ASYNC_NOTE_TYPE	 1

/*
 * A marker frame's ip is folly's cookie or, without folly, our headers' own; no
 * code lies below ASYNC_CODE_MIN. One of ours is followed by {address of its
 * text, ASYNC_LABEL_TAG}, or by {address of a struct thread_context,
 * ASYNC_CONTEXT_TAG}; folly's is followed by a number.
 */
#define ASYNC_CODE_MIN	  4096
#define ASYNC_LABEL_TAG	  0x6c6562616c746677ULL
#define ASYNC_CONTEXT_TAG 0x7478657463746677ULL

struct async_root {
	unsigned long long top;	 /* async_frame of the running leaf, or 0 */
	unsigned long long next; /* async_root further down this thread */
	unsigned long long fp;	 /* frame pointer of the registering function */
	unsigned long long ra;	 /* and its return address */
};

struct async_frame {
	unsigned long long parent; /* async_frame of the caller, or 0 */
	unsigned long long ip;	   /* in the caller: where it goes on */
	unsigned long long root;   /* of the last frame: the waiting root, or 0 */
};

struct async_label {
	unsigned long long text; /* right behind the marker frame; or a record */
	unsigned long long tag;
};

_Static_assert(sizeof(struct async_root) == 32, "folly's AsyncStackRoot");
_Static_assert(sizeof(struct async_frame) == 24, "folly's AsyncStackFrame");

#endif
