/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as protobuf and DWARF write them, searches among them, and /proc's. */
#include "base/search.h"
#include "base/task_stat.h"
#include "base/varint.h"
#include "unwind/cfi_cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>

static void varints_come_back(void **state)
{
	unsigned char bytes[VARINT_BYTES_MAX];

	for (unsigned int bit = 0; bit < 64; bit++)
		for (int less = 0; less < 2; less++) {
			uint64_t value = (1ULL << bit) - (uint64_t)less, got = 1;
			size_t n = varint_put(bytes, value), at = 0;

			assert_true(varint_get(bytes, n, &at, &got));
			assert_true(got == value && at == n);
			at = 0;
			assert_false(varint_get(bytes, n - 1, &at, &got));
		}
}

/* Protobuf's have 64 bits; DWARF's may be padded, and lose what is beyond. */
static void varints_that_are_too_long(void **state)
{
	unsigned char bytes[24];
	uint64_t value = 7;
	size_t at = 0;
	struct cfi_cursor in = { bytes, bytes + sizeof(bytes), false };

	memset(bytes, 0x80, sizeof(bytes));
	bytes[0] = 0x85;
	bytes[9] = 2;
	assert_false(varint_get(bytes, 10, &at, &value));
	assert_int_equal(value, 7);
	bytes[9] = 1;
	at = 0;
	assert_true(varint_get(bytes, 10, &at, &value));
	assert_true(value == (1ULL << 63) + 5);
	bytes[9] = 0x80;
	bytes[CFI_LEB_MAX - 1] = 0;
	at = 0;
	assert_false(varint_get(bytes, sizeof(bytes), &at, &value));
	assert_int_equal(cfi_uleb(&in), 5);
	assert_ptr_equal(in.at, bytes + CFI_LEB_MAX);
	bytes[CFI_LEB_MAX - 1] = 0x80;
	in.at = bytes;
	assert_int_equal(cfi_uleb(&in), 0);
	assert_true(in.bad);
}

static void signed_numbers_of_dwarf(void **state)
{
	static const struct {
		uint8_t bytes[10];
		int64_t value;
	} cases[] = {
		{ { 0x7f }, -1 },
		{ { 0x40 }, -64 },
		{ { 0xc0, 0x00 }, 64 },
		{ { 0x80, 0x7f }, -128 },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f },
		  INT64_MIN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cfi_cursor in = { cases[i].bytes, cases[i].bytes + 10, false };

		assert_true(cfi_sleb(&in) == cases[i].value);
		assert_false(in.bad);
	}
}

static void a_search_finds_the_first(void **state)
{
	static const int items[] = { 1, 3, 3, 3, 8 };

	for (size_t n = 0; n <= 5; n++)
		for (int wanted = 0; wanted < 10; wanted++) {
			size_t first = 0;

			while (first < n && items[first] < wanted)
				first++;
			assert_int_equal(LOWER_BOUND(n, i, items[i] < wanted), first);
		}
}

static void a_task_whose_name_is_a_trap(void **state)
{
	struct task_stat stat;
	char before[16];

	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "a) Z 1 (b ) X");
	assert_true(task_stat_read(getpid(), &stat));
	prctl(PR_SET_NAME, before);
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.threads, 1);
	assert_true(stat.start_ticks > 0 && stat.start_stack > 4096);
	assert_false(task_stat_has_ended(&stat, true));
	assert_false(task_stat_read(-1, &stat));
}

static void a_process_lives_on_without_its_first_thread(void **state)
{
	struct task_stat stat = { .state = 'Z', .threads = 2 };

	assert_false(task_stat_has_ended(&stat, true));
	assert_true(task_stat_has_ended(&stat, false));
	stat.threads = 1;
	assert_true(task_stat_has_ended(&stat, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(varints_that_are_too_long),
		cmocka_unit_test(signed_numbers_of_dwarf),
		cmocka_unit_test(a_search_finds_the_first),
		cmocka_unit_test(a_task_whose_name_is_a_trap),
		cmocka_unit_test(a_process_lives_on_without_its_first_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
