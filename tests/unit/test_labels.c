// SPDX-License-Identifier: BSD-2-Clause
/* A profile without its labels: the same stacks, and nothing else missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <string.h>

#include "core/labels.h"

static uint32_t add(struct profile *r, uint32_t parent, const char *name,
		    enum frame_type type)
{
	struct profile_frame frame = { .type = type };
	uint32_t code, node;

	assert_int_equal(profile_add_string(r, name, strlen(name), &frame.name), 0);
	assert_int_equal(profile_add_frame(r, &frame, &code), 0);
	assert_int_equal(profile_add_node(r, parent, code, &node), 0);
	return node;
}

static uint32_t add_stack(struct profile *r, uint32_t async, uint32_t thread)
{
	const struct profile_stack stack = { .node = { async, thread } };
	uint32_t id;

	assert_int_equal(profile_add_stack(r, &stack, &id), 0);
	return id;
}

/* Leaf first. */
static void is_path(const struct profile *r, uint32_t stack, enum view view,
		    const char *want)
{
	uint32_t node = r->stacks.items[stack].node[view];
	char path[256] = "";

	for (; node; node = profile_parent(r, node)) {
		strcat(path, profile_code_name(r, profile_code(r, node)));
		strcat(path, ";");
	}
	assert_string_equal(path, want);
}

static void labels_are_left_out(void **state)
{
	AUTO(profile) r = NULL;
	uint32_t asks, one, two, step, mark, thread;

	assert_int_equal(profile_new(&r), 0);
	asks = add(r, 0, "asks", FRAME_TYPE_NATIVE);
	one = add(r, asks, "[one]", FRAME_TYPE_LABEL);
	two = add(r, one, "[two]", FRAME_TYPE_LABEL);
	assert_int_equal(profile_add_node(r, two, VIEW_BOUNDARY | BOUNDARY_ASYNC, &mark),
			 0);
	step = add(r, mark, "step", FRAME_TYPE_NATIVE);
	thread = add(r, 0, "main", FRAME_TYPE_NATIVE);
	add_stack(r, step, thread);
	add_stack(r, add(r, asks, "[no label]", FRAME_TYPE_UNKNOWN), thread);
	add_stack(r, one, thread);
	add_stack(r, 0, thread);
	is_path(r, 0, VIEW_ASYNC, "step;--;[two];[one];asks;");

	assert_int_equal(profile_drop_labels(r), 0);
	is_path(r, 0, VIEW_ASYNC, "step;--;asks;");
	is_path(r, 1, VIEW_ASYNC, "[no label];asks;");
	is_path(r, 2, VIEW_ASYNC, "asks;");
	is_path(r, 3, VIEW_ASYNC, "");
	for (uint32_t i = 0; i < 4; i++)
		is_path(r, i, VIEW_THREAD, "main;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
