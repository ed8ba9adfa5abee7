/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that outlive windows: the same as they were found, also that nothing was; let
 * go once no window asks for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* ours is meant */

#include "sym/name_cache.h"

#define PLACES 5000

static bool recall(struct name_cache *cache, uint64_t serial, uint64_t at,
		   struct names *names, uint32_t frame)
{
	const struct name_place place = { serial, at };
	bool is_known;

	assert_int_equal(name_cache_recall(cache, &place, names, frame, &is_known), 0);
	return is_known;
}

static void keep(struct name_cache *cache, uint64_t serial, uint64_t at,
		 const struct names *names, uint32_t frame)
{
	const struct name_place place = { serial, at };

	assert_int_equal(name_cache_keep(cache, &place, names, frame), 0);
}

static void what_was_found_is_found_again(void **state)
{
	const struct names_location places[] = { { "inner", "inner.h", 7 },
						 { "", "outer.c", 70000 } };
	AUTO(name_cache) cache = NULL;
	AUTO(names) found = NULL;
	AUTO(names) again = NULL;

	assert_int_equal(name_cache_new(&cache), 0);
	assert_int_equal(names_new(&found), 0);
	assert_int_equal(names_new(&again), 0);
	assert_int_equal(names_set(found, 3, "outer"), 0);
	assert_int_equal(names_set_locations(found, 3, places, 2), 0);
	assert_false(recall(cache, 9, 0x10, again, 0));
	keep(cache, 9, 0x10, found, 3);
	keep(cache, 9, 0x20, found, 4); /* which has no name */
	assert_true(recall(cache, 9, 0x10, again, 8));
	assert_true(recall(cache, 9, 0x20, again, 9));
	assert_false(recall(cache, 8, 0x10, again, 0));
	assert_string_equal(names_get(again, 8), "outer");
	assert_int_equal(names_n_locations(again, 8), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct names_location place = names_location(again, 8, i);

		assert_string_equal(place.name, places[i].name);
		assert_string_equal(place.file, places[i].file);
		assert_int_equal(place.line, places[i].line);
	}
	assert_null(names_get(again, 9));
	assert_int_equal(names_n_locations(again, 9), 0);
}

static void what_no_window_asks_for_is_let_go(void **state)
{
	AUTO(name_cache) cache = NULL;
	AUTO(names) names = NULL;
	unsigned int turns = 0;
	uint64_t bytes;

	assert_int_equal(name_cache_new(&cache), 0);
	assert_int_equal(names_new(&names), 0);
	for (uint32_t i = 0; i < PLACES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%u", i);
		assert_int_equal(names_set(names, i, name), 0);
		keep(cache, 1, i, names, i);
	}
	assert_int_equal(name_cache_counts(cache).places, PLACES);
	bytes = name_cache_counts(cache).bytes;
	while (name_cache_counts(cache).places == PLACES) {
		for (uint32_t i = 0; i < PLACES; i += 10)
			assert_true(recall(cache, 1, i, names, i));
		name_cache_turn(cache);
		assert_true(++turns < 100);
	}
	assert_true(turns > 1); /* a pause of a window is none */
	assert_int_equal(name_cache_counts(cache).places, PLACES / 10);
	assert_true(name_cache_counts(cache).bytes <= bytes / 9);
	for (uint32_t i = 0; i < PLACES; i++)
		assert_int_equal(recall(cache, 1, i, names, i), i % 10 == 0);
}

/* A debug file has come: only what it may name is looked for again. */
static void what_has_no_symbol_is_forgotten(void **state)
{
	AUTO(name_cache) cache = NULL;
	AUTO(names) names = NULL;
	AUTO(names) again = NULL;

	assert_int_equal(name_cache_new(&cache), 0);
	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_new(&again), 0);
	names_set_origin(names, NAME_ORIGIN_SYMBOL);
	assert_int_equal(names_set(names, 0, "known"), 0);
	names_set_origin(names, NAME_ORIGIN_START);
	assert_int_equal(names_set(names, 1, "libx.so!0x100"), 0);
	for (uint64_t serial = 1; serial <= 2; serial++)
		for (uint32_t frame = 0; frame < 3; frame++) /* 2 has none */
			keep(cache, serial, frame, names, frame);
	name_cache_forget(cache, 2);
	assert_int_equal(name_cache_counts(cache).places, 4);
	for (uint64_t serial = 1; serial <= 2; serial++)
		for (uint32_t frame = 0; frame < 3; frame++)
			assert_int_equal(recall(cache, serial, frame, again, frame),
					 serial == 1 || frame == 0);
}

/* Somebody may install one. */
static void a_debug_file_is_looked_for_again(void **state)
{
	AUTO(name_cache) cache = NULL;
	unsigned int turns = 0;

	assert_int_equal(name_cache_new(&cache), 0);
	for (uint64_t serial = 1; serial <= 3; serial++) {
		assert_false(name_cache_has_no_debug(cache, serial));
		assert_int_equal(name_cache_set_no_debug(cache, serial), 0);
	}
	name_cache_forget(cache, 2); /* it has come */
	while (name_cache_has_no_debug(cache, 1)) {
		assert_false(name_cache_has_no_debug(cache, 2));
		assert_true(name_cache_has_no_debug(cache, 3));
		name_cache_turn(cache);
		assert_true(++turns < 100);
	}
	assert_true(turns > 1);
	assert_int_equal(name_cache_set_no_debug(cache, 1), 0);
	name_cache_clear(cache);
	assert_false(name_cache_has_no_debug(cache, 1));
}

/* A name of 60 KB each: there is an end to it, and it is counted. */
static void there_is_a_limit(void **state)
{
	static char name[60000];
	AUTO(name_cache) cache = NULL;

	assert_int_equal(name_cache_new(&cache), 0);
	memset(name, 'x', sizeof(name) - 1);
	for (uint32_t i = 0; i < 1000; i++) {
		AUTO(names) names = NULL;

		assert_int_equal(names_new(&names), 0);
		assert_int_equal(names_set(names, 0, name), 0);
		keep(cache, 1, i, names, 0);
	}
	assert_true(name_cache_counts(cache).refused > 400);
	assert_true(name_cache_counts(cache).bytes <= 32u << 20);
	assert_int_equal(
		name_cache_counts(cache).places + name_cache_counts(cache).refused, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_found_is_found_again),
		cmocka_unit_test(what_no_window_asks_for_is_let_go),
		cmocka_unit_test(what_has_no_symbol_is_forgotten),
		cmocka_unit_test(a_debug_file_is_looked_for_again),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
