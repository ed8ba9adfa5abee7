/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of cmocka as the tests of the public headers use, for machines and
 * sanitizers that the installed library was not built for. Exit status 0, or
 * that of an abort on the first failure.
 */
#ifndef SHIM_CMOCKA_H
#define SHIM_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_true(is)                                                                  \
	((is) ? (void)0                                                                  \
	      : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #is), abort()))
#define assert_false(is)	     assert_true(!(is))
#define assert_null(p)		     assert_true(!(p))
#define assert_non_null(p)	     assert_true(p)
#define assert_int_equal(a, b)	     assert_true((uintmax_t)(a) == (uintmax_t)(b))
#define assert_ptr_equal(a, b)	     assert_true((uintptr_t)(a) == (uintptr_t)(b))
#define assert_ptr_not_equal(a, b)   assert_true((uintptr_t)(a) != (uintptr_t)(b))
#define assert_string_equal(a, b)    assert_true(!strcmp(a, b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define assert_in_range(a, low, most)                                                    \
	assert_true((uintmax_t)(a) >= (uintmax_t)(low) &&                                \
		    (uintmax_t)(a) <= (uintmax_t)(most))

struct CMUnitTest {
	void (*run)(void **state);
};

#define cmocka_unit_test(function)                                                       \
	{                                                                                \
		function                                                                 \
	}
#define cmocka_run_group_tests(tests, set_up, tear_down)                                 \
	shim_run(tests, sizeof(tests) / sizeof((tests)[0]))

static inline int shim_run(const struct CMUnitTest *tests, size_t n)
{
	void *state = NULL;

	for (size_t i = 0; i < n; i++)
		tests[i].run(&state);
	return 0;
}

#endif
