/* SPDX-License-Identifier: BSD-2-Clause */
/* What everything stands on: intern, hmap, str, vec, errors. */
#include "base/error.h"
#include "base/glob.h"
#include "base/hmap.h"
#include "base/intern.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MANY 20000

static void intern_gives_dense_ids(void **state)
{
	AUTO(intern) table = NULL;
	uint32_t id;
	size_t n;

	assert_int_equal(intern_new(&table, MANY), 0);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			char text[32];

			n = (size_t)sprintf(text, "item %u", i * 7919);
			assert_int_equal(intern_id(table, text, n, &id), 0);
			assert_int_equal(id, i);
		}
	}
	assert_int_equal(intern_count(table), MANY);
	assert_string_equal(intern_string(table, 3), "item 23757");
	assert_string_equal(intern_bytes(table, 3, &n), "item 23757");
	assert_int_equal(n, 10);
}

static void intern_tells_when_it_is_full(void **state)
{
	AUTO(intern) table = NULL;
	uint32_t id = 77;

	assert_int_equal(intern_new(&table, 2), 0);
	assert_int_equal(intern_id(table, "a", 1, &id), 0);
	assert_int_equal(intern_id(table, "b", 1, &id), 0);
	id = 77;
	assert_int_equal(intern_id(table, "c", 1, &id), INTERN_FULL);
	assert_int_equal(id, 77);
	assert_int_equal(intern_id(table, "a", 1, &id), 0);
	assert_int_equal(id, 0);
}

static void intern_keeps_any_bytes(void **state)
{
	AUTO(intern) table = NULL;
	static unsigned char large[200000];
	uint32_t empty, zero, zeros, id;
	size_t n;

	assert_int_equal(intern_new(&table, 100), 0);
	assert_int_equal(intern_id(table, NULL, 0, &empty), 0);
	assert_int_equal(intern_id(table, "\0", 1, &zero), 0);
	assert_int_equal(intern_id(table, "\0\0", 2, &zeros), 0);
	assert_true(empty != zero && zero != zeros);
	memset(large, 0xab, sizeof(large));
	assert_int_equal(intern_id(table, large, sizeof(large), &id), 0);
	assert_memory_equal(intern_bytes(table, id, &n), large, sizeof(large));
	assert_int_equal(n, sizeof(large));
	assert_int_equal((uintptr_t)intern_bytes(table, zeros, &n) % 8, 0);
	assert_string_equal(intern_string(table, empty), "");
	intern_free(NULL);
}

static void hashes_differ(void **state)
{
	unsigned char bytes[64] = { 0 };
	uint64_t seen = hash_bytes(bytes, sizeof(bytes));

	assert_int_equal(hash_bytes(bytes, sizeof(bytes)), seen);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_true(hash_bytes(bytes, sizeof(bytes)) != seen);
		bytes[i] = 0;
		assert_true(hash_bytes(bytes, i) != seen);
	}
}

/* So that a sanitizer lets an allocation fail, too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Against an array: puts, replacements and removals in any order. */
static void hmap_agrees_with_an_array(void **state)
{
	static char things[512];
	void *model[512] = { 0 };
	struct hmap map = { 0 };
	uint64_t seed = 0x1234567;
	size_t n = 0, i = 0;

	assert_null(hmap_get(&map, 0));
	assert_null(hmap_remove(&map, 0));
	assert_null(hmap_next(&map, &i));
	for (int round = 0; round < 50000; round++) {
		size_t k = (seed = seed * 6364136223846793005 + 1) >> 55;
		/* neighbours and far apart, so that runs form and break */
		uint64_t key = k & 1 ? k : k << 40;

		if (seed >> 20 & 1) {
			void *was = hmap_remove(&map, key);

			assert_ptr_equal(was, model[k]);
			n -= was != NULL;
			model[k] = NULL;
		} else {
			n += !model[k];
			model[k] = &things[seed >> 30 & 511];
			assert_int_equal(hmap_put(&map, key, model[k]), 0);
		}
		assert_ptr_equal(hmap_get(&map, key), model[k]);
		assert_int_equal(map.n, n);
	}
	for (size_t k = 0; k < 512; k++)
		assert_ptr_equal(hmap_get(&map, k & 1 ? k : k << 40), model[k]);
	for (i = 0; hmap_next(&map, &i);)
		n--;
	assert_int_equal(n, 0);
	hmap_free(&map);
	assert_null(hmap_get(&map, 1));
}

static void str_grows(void **state)
{
	AUTO_STR str = { 0 };

	assert_null(str.s);
	for (int i = 0; i < 1000; i++)
		str_addf(&str, "%d,", i);
	assert_int_equal(strlen(str.s), str.n);
	assert_int_equal(str.n, 3890);
	assert_int_equal(str_error(&str), 0);
	str_clear_to(&str, str.room);
	assert_string_equal(str.s, "");
	str_clear_to(&str, str.room - 1);
	assert_null(str.s);
	str_add(&str, "later");
	str_clear(&str);
	str_add(&str, "a");
	str_add_char(&str, 'b');
	str_add_bytes(&str, "c\0d", 3);
	str_add_bytes(&str, NULL, 0);
	assert_int_equal(str.n, 5);
	assert_memory_equal(str.s, "abc\0d", 6);
}

static void str_remembers_failure(void **state)
{
	struct str str = { .failed = true };

	str_add(&str, "lost");
	str_addf(&str, "%d", 1);
	assert_null(str.s);
	assert_int_equal(str_error(&str), -ENOMEM);
	str_free(&str);
	assert_int_equal(str_error(&str), 0);
}

static const struct {
	const char *raw, *clean;
} names[] = {
	{ "", "" },
	{ "plain name", "plain name" },
	{ "tab\tnewline\n", "tab?newline?" },
	{ "\033[31mred\177", "?[31mred?" },
	{ "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" },
	{ "\xf0\x9f\x8e\x89", "\xf0\x9f\x8e\x89" },
	{ "\xc2\x9b"
	  "31m",
	  "?31m" },			/* C1 control */
	{ "\xc0\xaf", "??" },		/* overlong */
	{ "\xe0\x80\xaf", "???" },	/* overlong */
	{ "\xed\xa0\x80", "???" },	/* surrogate */
	{ "\xf4\x90\x80\x80", "????" }, /* past U+10FFFF */
	{ "\xff\xfe", "??" },
	{ "cut \xe2\x82", "cut ??" },
	{ "\xe2\x82"
	  "A",
	  "??A" },
	/* U+061C, U+200E, U+202A, U+202E, U+2066, U+2069 turn what is around them */
	{ "a\xd8\x9c-\xe2\x80\x8e-\xe2\x80\xaa-\xe2\x80\xae", "a?-?-?-?" },
	{ "\xe2\x81\xa6-\xe2\x81\xa9", "?-?" },
	/* their neighbours don't: U+200D, U+2029, U+202F, U+206A */
	{ "\xe2\x80\x8d-\xe2\x80\xa9-\xe2\x80\xaf-\xe2\x81\xaa",
	  "\xe2\x80\x8d-\xe2\x80\xa9-\xe2\x80\xaf-\xe2\x81\xaa" },
};

static void str_clean_keeps_what_is_harmless(void **state)
{
	char out[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		str_clean(out, sizeof(out), names[i].raw, strlen(names[i].raw));
		assert_string_equal(out, names[i].clean);
	}
	assert_string_equal(str_clean(out, sizeof(out), "ab\0cd", 5), "ab");
	assert_string_equal(str_clean(out, sizeof(out), "abcd", 2), "ab");
}

/* Never half a character, never past the room. */
static void str_clean_cuts_between_characters(void **state)
{
	static const char raw[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x89z";
	static const size_t ends[] = { 0, 1, 3, 6, 10, 11 };
	size_t k = 0;

	for (size_t room = 1; room <= sizeof(raw); room++) {
		char out[32];

		memset(out, 'X', sizeof(out));
		str_clean(out, room, raw, strlen(raw));
		while (k + 1 < sizeof(ends) / sizeof(*ends) && ends[k + 1] < room)
			k++;
		assert_int_equal(strlen(out), ends[k]);
		for (size_t i = room; i < sizeof(out); i++)
			assert_int_equal(out[i], 'X');
	}
}

static void str_writes_json(void **state)
{
	AUTO_STR str = { 0 };

	str_add_json(&str, "a\"b\\c\n\033\x7f\xc3\xa9\xff</script>");
	assert_string_equal(str.s, "\"a\\\"b\\\\c\\u000a\\u001b\\u007f\xc3\xa9\\ufffd"
				   "</script>\"");
	str_clear(&str);
	str_add_json(&str, "");
	assert_string_equal(str.s, "\"\"");
}

static void vec_grows(void **state)
{
	VEC(uint64_t) numbers = { 0 };

	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(vec_push(&numbers, i * i), 0);
	assert_int_equal(numbers.n, MANY);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(numbers.items[i], i * i);
	assert_int_equal(vec_reserve(&numbers, 3 * MANY), 0);
	assert_true(numbers.room >= 4 * MANY);
	assert_int_equal(numbers.n, MANY);
	assert_int_equal(vec_reserve(&numbers, SIZE_MAX / 16), -ENOMEM);
	assert_int_equal(numbers.items[2], 4);
	vec_free(&numbers);
	assert_null(numbers.items);
	assert_int_equal(numbers.n, 0);
}

/* What a pattern means, by trying all ways to spread the stars. */
static bool means(const char *pattern, const char *name)
{
	if (*pattern == '*')
		return means(pattern + 1, name) || (*name && means(pattern, name + 1));
	if (!*pattern || !*name)
		return !*pattern && !*name;
	return (*pattern == '?' || *pattern == *name) && means(pattern + 1, name + 1);
}

static void globs_mean_what_they_say(void **state)
{
	static const char letters[] = "ab*?";
	char pattern[8] = "", name[8] = "";
	size_t met = 0, n = 0;

	srandom(3);
	for (int i = 0; i < 200000; i++) {
		size_t long_pattern = (size_t)random() % 7, long_name = random() % 7;

		for (size_t k = 0; k < long_pattern; k++)
			pattern[k] = letters[random() % 4];
		for (size_t k = 0; k < long_name; k++)
			name[k] = letters[random() % 2];
		pattern[long_pattern] = name[long_name] = '\0';
		assert_int_equal(glob_matches(pattern, name), means(pattern, name));
		met += means(pattern, name);
		n++;
	}
	assert_in_range(met, n / 20, n / 2);
	assert_true(glob_matches("?x", "\xe4\xb8\xadx"));
	assert_false(glob_matches("??x", "\xe4\xb8\xadx"));
	assert_true(glob_matches("[a-z]\\", "[a-z]\\"));
}

static const char *word_of(const void *arg, size_t i)
{
	return ((const char *const *)arg)[i];
}

static void the_nearest_word_is_found(void **state)
{
	static const char *const words[] = { "libcap.so.2.66", "libc.so.6", "main",
					     "domain",	       "",	    NULL };

	assert_string_equal(nearest_word("mein", word_of, words), "main");
	assert_string_equal(nearest_word("libc", word_of, words), "libc.so.6");
	assert_string_equal(nearest_word("cap", word_of, words), "libcap.so.2.66");
	assert_string_equal(nearest_word("omai", word_of, words), "domain");
	assert_null(nearest_word("x", word_of, words));
	assert_null(nearest_word("zebra", word_of, words));
}

/* cmocka has a fail() of its own. */
#undef fail
static void errors_keep_the_latest_sentence(void **state)
{
	error_clear();
	assert_string_equal(error_sentence(), "");
	assert_int_equal(fail(-EINVAL, "no %s", "luck"), -EINVAL);
	assert_string_equal(error_sentence(), "no luck");
	assert_int_equal(fail_hint(-EINVAL, "try %d", 2), -EINVAL);
	assert_string_equal(error_hint(), "try 2");
	assert_int_equal(fail_errno(-ENOENT, "cannot open %s", "it"), -ENOENT);
	assert_string_equal(error_sentence(),
			    "cannot open it: No such file or directory");
	assert_string_equal(error_hint(), "");
	error_clear();
	assert_string_equal(error_sentence(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intern_gives_dense_ids),
		cmocka_unit_test(intern_tells_when_it_is_full),
		cmocka_unit_test(intern_keeps_any_bytes),
		cmocka_unit_test(hashes_differ),
		cmocka_unit_test(hmap_agrees_with_an_array),
		cmocka_unit_test(str_grows),
		cmocka_unit_test(str_remembers_failure),
		cmocka_unit_test(str_clean_keeps_what_is_harmless),
		cmocka_unit_test(str_clean_cuts_between_characters),
		cmocka_unit_test(str_writes_json),
		cmocka_unit_test(vec_grows),
		cmocka_unit_test(globs_mean_what_they_say),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(errors_keep_the_latest_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
