/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long names in what weft report reads and writes: folded text, perf script's, pprof
 * and recordings. Two that differ at their ends stay two through each of them.
 */
#include "base/name.h"
#include "core/functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "read_back.h"

static const size_t lengths[] = { 1100, 5000, 60000, 65536, 200000, 3000000 };

#define N_LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void add_long(struct str *text, size_t n, char last)
{
	for (size_t i = 1; i < n; i++)
		str_add_char(text, 'a');
	str_add_char(text, last);
}

static struct profile *read_str(const struct str *text)
{
	const struct bytes bytes = { text->s, text->n };

	return read_back(&bytes);
}

/* Three functions: one with 1 sample of its own, one with 2, and who called both. */
static void expect_two(const struct profile *r, size_t n, bool is_whole)
{
	struct functions found;
	const char *one, *other;

	assert_non_null(r);
	assert_int_equal(functions_find(&found, r, VIEW_THREAD, false), 0);
	assert_int_equal(found.total, 3);
	assert_int_equal(found.items.n, 3);
	assert_int_equal(found.items.items[0].self, 2);
	assert_int_equal(found.items.items[1].self, 1);
	other = profile_string(r, found.items.items[0].name);
	one = profile_string(r, found.items.items[1].name);
	assert_memory_equal(one, other, 1000);
	assert_string_not_equal(one, other);
	assert_int_equal(strstr(one, "…#") == NULL, is_whole);
	assert_int_equal(strstr(other, "…#") == NULL, is_whole);
	if (is_whole) {
		assert_int_equal(strlen(one), n);
		assert_int_equal(one[n - 1], 'y');
		assert_int_equal(other[n - 1], 'z');
	}
	functions_free(&found);
}

/* And what is read of what is written of it. */
static void expect_two_everywhere(const struct profile *r, size_t n)
{
	const struct writer *const streamed[] = { &weft_writer, &folded_writer,
						  &pprof_writer };
	bool is_whole = n < NAME_BYTES_MAX;

	expect_two(r, n, is_whole);
	for (size_t i = 0; i < sizeof(streamed) / sizeof(*streamed); i++) {
		struct bytes bytes = written(streamed[i], r, VIEW_THREAD);
		struct profile *again = read_back(&bytes);

		assert_non_null(again);
		expect_two(again, n, is_whole);
		profile_free(again);
		free(bytes.s);
	}
}

static void folded_text(void **state)
{
	for (size_t i = 0; i < N_LENGTHS; i++) {
		struct str text = { 0 };
		struct profile *r;

		str_add(&text, "comm;main;");
		add_long(&text, lengths[i], 'y');
		str_add(&text, " 1\ncomm;main;");
		add_long(&text, lengths[i], 'z');
		str_add(&text, " 2\n");
		r = read_str(&text);
		expect_two_everywhere(r, lengths[i]);
		profile_free(r);
		str_free(&text);
	}
}

static void add_sample(struct str *text, size_t n, char last)
{
	str_add(text, "comm  1/1  1.000000:  1 cycles:\n\t1000 ");
	add_long(text, n, last);
	str_add(text, "+0x14 (/bin/x)\n\t2000 main+0x3 (/bin/x)\n\n");
}

static void text_of_perf_script(void **state)
{
	for (size_t i = 0; i < N_LENGTHS; i++) {
		struct str text = { 0 };
		struct profile *r;

		add_sample(&text, lengths[i], 'y');
		add_sample(&text, lengths[i], 'z');
		add_sample(&text, lengths[i], 'z');
		r = read_str(&text);
		expect_two_everywhere(r, lengths[i]);
		profile_free(r);
		str_free(&text);
	}
}

/* What a frame without a name is called by is no limit either. */
static void modules_that_differ_at_their_ends(void **state)
{
	struct str text = { 0 };
	struct functions found;
	struct profile *r;

	for (char last = 'y'; last <= 'z'; last++) {
		str_add(&text, "comm  1/1  1.000000:  1 cycles:\n\t1000 [unknown] (/");
		add_long(&text, 300, last);
		str_add(&text, ")\n\n");
	}
	r = read_str(&text);
	assert_non_null(r);
	assert_int_equal(functions_find(&found, r, VIEW_THREAD, false), 0);
	assert_int_equal(found.items.n, 2);
	assert_int_not_equal(found.items.items[0].name, found.items.items[1].name);
	functions_free(&found);
	profile_free(r);
	str_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_text),
		cmocka_unit_test(text_of_perf_script),
		cmocka_unit_test(modules_that_differ_at_their_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
