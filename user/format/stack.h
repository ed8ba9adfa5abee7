/* SPDX-License-Identifier: BSD-2-Clause */
/* What readers of text share: frames by name, stacks by their frames. */
#ifndef WEFT_FORMAT_STACK_H
#define WEFT_FORMAT_STACK_H

#include "core/profile.h"

struct stack_builder {
	struct profile *r;
	VEC(uint32_t) codes; /* of the stack at hand, in the order of the source */
};

void stack_builder_free(struct stack_builder *b);

/* A frame more, by its name; module and offset where they are known. */
int stack_add_frame(struct stack_builder *b, const char *name, size_t n,
		    const struct profile_frame *rest);
/* The same, of which the name is known. */
int stack_add_named(struct stack_builder *b, const struct profile_frame *frame);
int stack_add_mark(struct stack_builder *b, uint32_t code);

/* The stack at hand, the same in both views, and begins a new one. */
int stack_finish(struct stack_builder *b, bool leaf_first, uint32_t *ret);

/* The thread of that name in that process; pid and tid 0: not known. */
int stack_thread(struct profile *r, const char *comm, size_t n, uint32_t pid,
		 uint32_t tid, uint32_t *ret);

#endif
