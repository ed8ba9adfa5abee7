// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of text: a text that stands for a frame is read once, and stacks that begin
 * alike are the same nodes as if each were added alone. */
#include "format/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* after these */
#include <cmocka.h>

static size_t n_read;

static int read_frame(struct stack_builder *b, const char *text, size_t n)
{
	n_read++;
	if (*text == '!') { /* as where there is no room */
		b->r->left_out++;
		return stack_add_mark(b, 0);
	}
	return stack_add_frame(b, text, n, &(struct profile_frame){ 0 });
}

static uint32_t add(struct stack_builder *b, const char *letters)
{
	uint32_t stack;

	for (size_t i = 0; letters[i]; i++)
		assert_int_equal(stack_add_text(b, letters + i, 1, read_frame), 0);
	assert_int_equal(stack_finish(b, false, &stack), 0);
	return b->r->stacks.items[stack].node[0];
}

static void texts_are_read_once(void **state)
{
	AUTO(profile) profile = NULL;
	struct stack_builder b = { 0 };

	assert_int_equal(profile_new(&profile), 0);
	b.r = profile;
	n_read = 0;
	add(&b, "abcab");
	add(&b, "cba");
	assert_int_equal(n_read, 3);
	add(&b, "!a!");
	add(&b, "!");
	assert_int_equal(n_read, 6);
	assert_int_equal(profile->left_out, 3);
	stack_builder_free(&b);
}

static void paths_are_shared(void **state)
{
	static const char *const stacks[] = { "abcd", "abce",  "ab", "abcd",
					      "b",    "abcdx", "ac", "a",
					      "abcd", "acd",   "",   "b" };
	AUTO(profile) profile = NULL;
	struct stack_builder b = { 0 };

	assert_int_equal(profile_new(&profile), 0);
	b.r = profile;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		struct stack_builder alone = { .r = profile };
		uint32_t node = add(&b, stacks[i]);

		assert_int_equal(node, add(&alone, stacks[i]));
		for (size_t at = strlen(stacks[i]); at--;) {
			uint32_t code = profile->nodes.items[node].b;

			assert_string_equal(
				profile_string(profile, profile->frames.items[code].name),
				((char[]){ stacks[i][at], '\0' }));
			node = profile->nodes.items[node].a;
		}
		assert_int_equal(node, 0);
		stack_builder_free(&alone);
	}
	stack_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_once),
		cmocka_unit_test(paths_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
