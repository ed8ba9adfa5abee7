// SPDX-License-Identifier: BSD-2-Clause
#include "format/stack.h"

#include "base/intern.h"

#define STACK_FRAMES_MAX 8192
#define KNOWN_TEXTS_MAX	 (256u << 10)
#define KNOWN_BYTES_MAX	 (16u << 20)

void stack_builder_free(struct stack_builder *b)
{
	vec_free(&b->codes);
	vec_free(&b->last.codes);
	vec_free(&b->last.nodes);
	intern_free(b->known.texts);
	vec_free(&b->known.codes);
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

static int note_text(struct frame_texts *known, const char *text, size_t n, uint32_t code)
{
	uint32_t id;
	int err = 0;

	if (!known->texts) {
		err = intern_new(&known->texts, KNOWN_TEXTS_MAX);
		if (err)
			return err;
		intern_limit_bytes(known->texts, KNOWN_BYTES_MAX);
	}
	err = intern_id(known->texts, text, n, &id);
	if (err)
		return err == INTERN_FULL ? 0 : err;
	return vec_push(&known->codes, code);
}

int stack_add_text(struct stack_builder *b, const char *text, size_t n, frame_reader read)
{
	struct frame_texts *known = &b->known;
	uint64_t left_out = b->r->left_out;
	size_t before = b->codes.n;
	uint32_t id;
	int err;

	if (known->texts && intern_find(known->texts, text, n, &id))
		return stack_add_mark(b, known->codes.items[id]);
	err = read(b, text, n);
	/* one that there was no room for counts each time */
	if (err || b->codes.n != before + 1 || b->r->left_out != left_out)
		return err;
	return note_text(known, text, n, b->codes.items[before]);
}

/* The next node of a path: the last stack's, as long as they are alike. */
static int add_node(struct stack_builder *b, size_t depth, uint32_t code, uint32_t *node)
{
	struct stack_path *last = &b->last;
	uint32_t parent = *node;
	int err;

	if (depth < last->codes.n && last->codes.items[depth] == code) {
		*node = last->nodes.items[depth];
		return 0;
	}
	if (depth < last->codes.n)
		last->codes.n = last->nodes.n = depth;
	err = profile_add_node(b->r, parent, code, node);
	if (err || *node == parent || depth != last->codes.n)
		return err; /* without room it counts each time */
	err = vec_push(&last->codes, code);
	return err ? err : vec_push(&last->nodes, *node);
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
		err = add_node(b, i, code, &node);
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
