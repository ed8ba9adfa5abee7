/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks beside those of the numbers in order. */
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 4000

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void ranks_are_those_of_the_numbers_in_order(void **state)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	uint64_t numbers[N], seed = 1;

	assert_non_null(histogram);
	for (size_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		numbers[i] = seed >> (i % 64); /* of each size */
		histogram_add(histogram, numbers[i]);
	}
	qsort(numbers, N, sizeof(*numbers), by_size);
	assert_int_equal(histogram->n, N);
	assert_true(histogram->max == numbers[N - 1]);
	for (size_t i = 0; i < N; i++) {
		uint64_t said = histogram_rank(histogram, i);

		assert_true(said >= numbers[i]);
		assert_true(said - numbers[i] <= numbers[i] / 32);
		if (numbers[i] < 64)
			assert_true(said == numbers[i]);
	}
	free(histogram);
}

static void the_ends_have_buckets(void **state)
{
	static const uint64_t ends[] = { 0, 31, 32, 63, 64, 65, UINT64_MAX };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct histogram *histogram = calloc(1, sizeof(*histogram));

		assert_non_null(histogram);
		histogram_add(histogram, ends[i]);
		assert_true(histogram_rank(histogram, 0) == ends[i]);
		free(histogram);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_those_of_the_numbers_in_order),
		cmocka_unit_test(the_ends_have_buckets),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
