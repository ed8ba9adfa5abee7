/* SPDX-License-Identifier: BSD-2-Clause */
/* What readers of text share: frames by name, stacks by their frames. */
#ifndef WEFT_FORMAT_STACK_H
#define WEFT_FORMAT_STACK_H

#include "core/profile.h"

struct intern;

struct stack_builder {
	struct profile *r;
	VEC(uint32_t) codes; /* of the stack at hand, in the order of the source */
	struct stack_path { /* of the last stack, root first: the next one begins alike */
		VEC(uint32_t) codes, nodes;
	} last;
	struct frame_texts { /* that stood for a frame; their codes by their ids */
		struct intern *texts;
		VEC(uint32_t) codes;
	} known;
};

void stack_builder_free(struct stack_builder *b);

/* A frame more, by its name; module and offset where they are known. */
int stack_add_frame(struct stack_builder *b, const char *name, size_t n,
		    const struct profile_frame *rest);
/* The same, of which the name is known. */
int stack_add_named(struct stack_builder *b, const struct profile_frame *frame);
int stack_add_mark(struct stack_builder *b, uint32_t code);

/*
 * The same, of what a source says of a frame, which it mostly says again and again: read
 * is asked once for each text.
 */
typedef int (*frame_reader)(struct stack_builder *b, const char *text, size_t n);
int stack_add_text(struct stack_builder *b, const char *text, size_t n,
		   frame_reader read);

/* The stack at hand, the same in both views, and begins a new one. */
int stack_finish(struct stack_builder *b, bool leaf_first, uint32_t *ret);

struct stack_owner {
	const char *comm; /* of the thread, and of its process */
	size_t comm_bytes;
	uint32_t pid, tid; /* 0: not known */
};

/* Makes the thread, and its process. */
int stack_thread(struct profile *r, const struct stack_owner *owner, uint32_t *ret);

#endif
