// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is asked of all bytes of code at once, without a branch, is what they say one
 * after another. x86-64.
 */
#include "begin.bpf.h"
#include "hotspot_x86.bpf.h"

#include "storm.h"
#include "world.h"

#include <string.h>

#define TRIES 400000

/* Bytes that make a difference, and any. */
static uint8_t next_byte(uint64_t *random)
{
	static const uint8_t likely[] = { 0xe8, 0xff, 0x10, 0x15, 0xd0, 0x55, 0x90,
					  0x94, 0x50, 0x0f, 0x05, 0x85, 0x48, 60,
					  0x41, 0x81, 0x7f, 0xbf, 0xfe, 0x00 };
	uint64_t next = storm_random(random) >> 8;

	return next % 4 ? likely[next / 4 % sizeof(likely)] : (uint8_t)(next >> 32);
}

static void next_bytes(uint8_t *ret, size_t n, uint64_t *random)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = next_byte(random);
}

static bool plain_call_ends(const uint8_t before[8])
{
	if (before[3] == 0xe8)
		return true;
	for (int n = 2; n <= 7; n++)
		if (before[8 - n] == 0xff && (before[8 - n + 1] & 0x38) == 0x10)
			return true;
	return false;
}

static bool plain_ends_thread(const uint8_t code[EXIT_BYTES])
{
	for (int i = 3; i < 10; i++)
		if (code[i] == 60 && ((code[i + 1] == 0x0f && code[i + 2] == 0x05) ||
				      (code[i + 4] == 0x0f && code[i + 5] == 0x05)))
			return true;
	return false;
}

/* jne; push %rbp and what begins as mov, up to 8 bytes behind the leaf */
static bool plain_checks_before_frame(const uint8_t code[16])
{
	for (int i = 0; i <= 8; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x85 && code[i + 6] == 0x55 &&
		    code[i + 7] == 0x48)
			return true;
	return false;
}

static bool plain_asks_collector(const uint8_t code[3])
{
	return code[0] == 0x41 && code[1] == 0x81 && (code[2] == 0x7f || code[2] == 0xbf);
}

static void test_calls(void **state)
{
	uint64_t random = 88172645463325252ULL, word;
	uint8_t bytes[8];
	int n = 0;

	for (int i = 0; i < TRIES; i++) {
		next_bytes(bytes, sizeof(bytes), &random);
		memcpy(&word, bytes, sizeof(word));
		assert_int_equal(call_ends(word), plain_call_ends(bytes));
		assert_int_equal(register_call_ends(word),
				 bytes[6] == 0xff && (bytes[7] & 0xf8) == 0xd0);
		n += call_ends(word);
	}
	assert_in_range(n, TRIES / 20, TRIES / 2);
}

static void test_ends_of_threads(void **state)
{
	uint64_t random = 88172645463325252ULL;
	uint8_t code[EXIT_BYTES];
	int n = 0;

	for (int i = 0; i < TRIES; i++) {
		next_bytes(code, sizeof(code), &random);
		if (i % 2) {
			unsigned int at = 3 + (unsigned int)i / 2 % 7;

			code[at] = 60;
			memcpy(code + at + (i % 4 == 1 ? 1 : 4), "\x0f\x05", 2);
		}
		assert_int_equal(ends_thread(code), plain_ends_thread(code));
		n += ends_thread(code);
	}
	assert_true(n >= TRIES / 2);
}

static void test_checks_before_frames(void **state)
{
	uint64_t random = 88172645463325252ULL;
	__u64 words[2];
	uint8_t code[16];
	int n = 0;

	for (int i = 0; i < TRIES; i++) {
		next_bytes(code, sizeof(code), &random);
		if (i % 2) {
			unsigned int at = (unsigned int)i / 2 % 9;

			memcpy(code + at, "\x0f\x85", 2);
			memcpy(code + at + 6, "\x55\x48", 2);
			code[(unsigned int)i / 18 % 16] ^= i % 3 ? 0 : 0x10;
		}
		memcpy(words, code, sizeof(words));
		assert_int_equal(checks_before_frame(words),
				 plain_checks_before_frame(code));
		n += checks_before_frame(words);
	}
	assert_in_range(n, TRIES / 4, TRIES * 3 / 4);
}

/* Behind a nop any of the next seven bytes may begin it. */
static void test_questions_of_collectors(void **state)
{
	static const char *const nops[] = { "\x90", "\x66\x90", "\x66\x66\x90",
					    "\x0f\x1f", "\x66\x0f\x1f" };
	uint64_t random = 88172645463325252ULL;
	__u64 words[3] = { 1ULL << 40 };
	uint8_t code[16];
	int n = 0;

	for (int i = 0; i < TRIES; i++) {
		bool asks = false;

		next_bytes(code, sizeof(code), &random);
		memcpy(code, nops[i % 5], strlen(nops[i % 5]));
		if (i % 2)
			memcpy(code + strlen(nops[i % 5]) + (unsigned int)i / 2 % 9,
			       i % 4 == 1 ? "\x41\x81\x7f" : "\x41\x81\xbf", 3);
		memcpy(words + 1, code, sizeof(code));
		for (int at = 0; at < 8; at++)
			asks |= plain_asks_collector(code + at);
		assert_int_equal(is_asking(words), asks);
		n += asks;
	}
	assert_in_range(n, TRIES / 4, TRIES * 3 / 4);
}

int run_byte_cases(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_ends_of_threads),
		cmocka_unit_test(test_checks_before_frames),
		cmocka_unit_test(test_questions_of_collectors),
	};

	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
