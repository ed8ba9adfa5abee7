// SPDX-License-Identifier: BSD-2-Clause
#include "format/stack.h"

#define STACK_FRAMES_MAX 8192

void stack_builder_free(struct stack_builder *b)
{
	vec_free(&b->codes);
}

int stack_add_mark(struct stack_builder *b, uint32_t code)
{
	if (b->codes.n < STACK_FRAMES_MAX)
		return vec_push(&b->codes, code);
	return 0;
}

int stack_add_named(struct stack_builder *b, const struct profile_frame *frame)
{
	uint32_t id;
	int err = profile_add_frame(b->r, frame, &id);

	return err ? err : stack_add_mark(b, id);
}

int stack_add_frame(struct stack_builder *b, const char *name, size_t n,
		    const struct profile_frame *rest)
{
	struct profile_frame frame = *rest;
	int err = profile_add_string(b->r, name, n, &frame.name);

	return err ? err : stack_add_named(b, &frame);
}

int stack_finish(struct stack_builder *b, bool leaf_first, uint32_t *ret)
{
	struct profile_stack stack = { 0 };
	size_t n = b->codes.n;
	uint32_t node = 0;
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		uint32_t code = b->codes.items[leaf_first ? n - 1 - i : i];

		if (PROFILE_MARK(code) == VIEW_BOUNDARY)
			stack.notes |= STACK_ASYNC;
		err = profile_add_node(b->r, node, code, &node);
	}
	b->codes.n = 0;
	stack.node[VIEW_ASYNC] = stack.node[VIEW_THREAD] = node;
	return err ? err : profile_add_stack(b->r, &stack, ret);
}

int stack_thread(struct profile *r, const struct stack_owner *owner, uint32_t *ret)
{
	struct profile_process process = { .pid = owner->pid };
	struct profile_thread thread = { .tid = owner->tid };
	int err = profile_add_string(r, owner->comm, owner->comm_bytes, &thread.name);

	process.name = thread.name;
	if (!err)
		err = profile_add_process(r, &process, &thread.process);
	return err ? err : profile_add_thread(r, &thread, ret);
}
