// SPDX-License-Identifier: BSD-2-Clause
/* Where a JVM has its code: of several JDKs, while they start, and damaged at each
 * byte. */
#include "hotspot_made.h"

static void reads_each_jdk(void **state)
{
	static const int versions[] = { 8, 11, 17, 25 };

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		int version = versions[i];
		struct hotspot vm;

		put_jdk(version);
		assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), 0);
		assert_int_equal(vm.heaps[0].low, 0x1000000);
		assert_int_equal(vm.heaps[0].high, 0x2000000);
		assert_int_equal(vm.heaps[0].segments, 0x5000000);
		assert_int_equal(vm.heaps[0].segment_shift, 7);
		assert_int_equal(vm.heaps[1].segments, version < 9 ? 0 : 0x6000000);
		assert_int_equal(vm.interpreter, 0x1000400);
		assert_int_equal(vm.interpreter_bytes, 0x20000);
		assert_int_equal(vm.call_stub_return, 0x1000123);
		assert_int_equal(vm.blob_at, version < 25 ? 16 : 8);
		assert_int_equal(vm.frame_words.at, vm.blob_at + 28);
		assert_int_equal(vm.frame_words.bytes, 4);
		assert_int_equal(vm.frame_complete.at, vm.blob_at + 54);
		assert_int_equal(vm.frame_complete.bytes, version < 25 ? 4 : 2);
		assert_int_equal(vm.code.at, vm.blob_at + 36);
		assert_int_equal(vm.code.bytes, version >= 9 && version < 23 ? 8 : 4);
		assert_int_equal(vm.name.at, vm.blob_at + 8);
		assert_int_equal(vm.name.bytes, 8);
		assert_int_equal(vm.method.at, vm.blob_at + 64);
		assert_int_equal(vm.method.bytes, 8);
	}
}

/* Each of these comes a moment after the one before. */
static void waits_while_it_starts(void **state)
{
	static const uint64_t words[] = {
		VARIABLE,	  HEAPS_VARIABLE, LIST + 8,  DATA,	   CODE_HEAPS + 8,
		CODE_HEAPS + 120, QUEUE_VARIABLE, QUEUE + 8, CALL_VARIABLE
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct hotspot vm;

		put_jdk(17);
		put(LIST + 4, 1, 4);
		put(words[i], 0, 8);
		assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -EAGAIN);
	}
}

static void refuses_what_it_does_not_know(void **state)
{
	struct hotspot vm;

	/* a field has another name, or lies further back than ticks can say */
	for (unsigned int i = 1; i < 16; i++) {
		put_jdk(17);
		put(ENTRIES + 48ULL * i + 8, put_name("_other"), 8);
		assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -ENOTSUP);
	}
	for (unsigned int i = 9; i < 13; i++) {
		put_jdk(17);
		put(ENTRIES + 48ULL * i + 32, 600, 8);
		assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -ENOTSUP);
	}
	put_jdk(17);
	put(CODE_HEAPS + 16, 0x1000000 + (5ULL << 30), 8); /* larger than there are */
	assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -ENOTSUP);
	put_jdk(17);
	put(CODE_HEAPS + 248, 40, 4); /* segments of a terabyte */
	assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -ENOTSUP);
	/* it never ends */
	put_jdk(17);
	for (unsigned int i = made.n_entries; ENTRIES + 48 * (i + 1ULL) < BASE + BYTES;
	     i++)
		put(ENTRIES + 48ULL * i, NAMES, 8);
	assert_int_not_equal(hotspot_read(&memory, VARIABLE, &vm), 0);
	/* names all over the place */
	put_jdk(17);
	put(ENTRIES + 48, BASE + (1ULL << 40), 8);
	assert_int_equal(hotspot_read(&memory, VARIABLE, &vm), -ENOTSUP);
	assert_int_equal(hotspot_read(&memory, 0x1000, &vm), -EFAULT);
	error_clear();
}

static void holds_whatever_it_reads(void **state)
{
	for (size_t at = 0; at < BYTES; at++)
		for (int i = 0; i < 3; i++) {
			struct hotspot vm;

			put_jdk(i & 1 ? 17 : 25);
			made.bytes[at] ^= i == 2 ? 0xff : 1U << at % 8;
			if (!hotspot_read(&memory, VARIABLE, &vm))
				assert_int_equal(hotspot_check(&vm), 0);
			error_clear();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_jdk),
		cmocka_unit_test(waits_while_it_starts),
		cmocka_unit_test(refuses_what_it_does_not_know),
		cmocka_unit_test(holds_whatever_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
