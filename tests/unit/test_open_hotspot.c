// SPDX-License-Identifier: BSD-2-Clause
/* A JVM's own description of its structures, in memory that is made up: as several JDKs
 * have it, while they start, and damaged at each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "proc/open_hotspot.h"

#define BASE  0x7f0000000000ULL
#define BYTES 16384

/* Where things lie in it. */
#define VARIABLE   (BASE + 8)	/* gHotSpotVMStructs */
#define ENTRIES	   (BASE + 256) /* what it says */
#define STATICS	   (BASE + 2048)
#define LIST	   (BASE + 2304)
#define DATA	   (BASE + 2368)
#define CODE_HEAPS (BASE + 2560)
#define QUEUE	   (BASE + 3584)
#define NAMES	   (BASE + 4096)

#define HEAPS_VARIABLE (STATICS + 0)
#define QUEUE_VARIABLE (STATICS + 8)
#define CALL_VARIABLE  (STATICS + 16)

static struct {
	unsigned char bytes[BYTES];
	unsigned int n_entries;
	size_t n_names;
} made;

static void put(uint64_t addr, uint64_t value, size_t n)
{
	memcpy(made.bytes + (addr - BASE), &value, n);
}

static uint64_t put_name(const char *name)
{
	uint64_t at = NAMES + made.n_names;

	assert_true(NAMES - BASE + made.n_names + strlen(name) + 1 < BYTES);
	strcpy((char *)made.bytes + (at - BASE), name);
	made.n_names += strlen(name) + 1;
	return at;
}

static void put_entry(const char *type, const char *field, const char *kind,
		      uint64_t offset, uint64_t address)
{
	uint64_t at = ENTRIES + 48ULL * made.n_entries++;

	assert_true(at + 48 < STATICS);
	put(at, put_name(type), 8);
	put(at + 8, put_name(field), 8);
	put(at + 16, put_name(kind), 8);
	put(at + 24, address != 0, 4);
	put(at + 32, offset, 8);
	put(at + 40, address, 8);
}

static int read_made(const struct hotspot_memory *memory, uint64_t addr, void *into,
		     size_t least, size_t n)
{
	uint64_t left = BASE + BYTES - addr;

	if (addr < BASE || addr >= BASE + BYTES || left < least)
		return fail(-EFAULT, "not there");
	memcpy(into, made.bytes + (addr - BASE), n < left ? n : left);
	return 0;
}

static const struct hotspot_memory memory = { .read = read_made };

static void put_heap(unsigned int n, uint64_t low, uint64_t high, uint64_t segments)
{
	uint64_t at = CODE_HEAPS + 256ULL * n;

	put(DATA + 8ULL * n, at, 8);
	put(at + 8, low, 8); /* its memory */
	put(at + 16, high, 8);
	put(at + 120, segments, 8); /* its segment map */
	put(at + 256 - 8, 7, 4);
}

/* Where fields lie does not matter, but for what is said of them. */
static void put_jdk(int version)
{
	memset(&made, 0, sizeof(made));
	put(VARIABLE, ENTRIES, 8);
	put_entry("Other", "_len", "int", 3, 0);
	if (version < 9)
		put_entry("CodeCache", "_heap", "CodeHeap*", 0, HEAPS_VARIABLE);
	else
		put_entry("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 0,
			  HEAPS_VARIABLE);
	put_entry(version < 16 ? "GenericGrowableArray" : "GrowableArrayBase", "_len",
		  "int", 4, 0);
	put_entry("GrowableArray<int>", "_data", "int*", 8, 0);
	put_entry("CodeHeap", "_memory", "VirtualSpace", 8, 0);
	put_entry("CodeHeap", "_segmap", "VirtualSpace", 120, 0);
	put_entry("CodeHeap", "_log2_segment_size", "int", 248, 0);
	put_entry("VirtualSpace", "_low_boundary", "char*", 0, 0);
	put_entry("VirtualSpace", "_high_boundary", "char*", 8, 0);
	put_entry("HeapBlock::Header", "_used", "bool", version < 25 ? 8 : 4, 0);
	put_entry("CodeBlob", "_frame_size", "int", 28, 0);
	put_entry("CodeBlob", "_frame_complete_offset", version < 25 ? "int" : "int16_t",
		  54, 0);
	put_entry("CodeBlob",
		  version >= 9 && version < 23 ? "_code_begin" : "_code_offset",
		  "address", 36, 0);
	put_entry("AbstractInterpreter", "_code", "StubQueue*", 0, QUEUE_VARIABLE);
	put_entry("StubQueue", "_stub_buffer", "address", 8, 0);
	put_entry("StubQueue", "_buffer_limit", "int", 20, 0);
	put_entry("StubRoutines", "_call_stub_return_address", "address", 0,
		  CALL_VARIABLE);

	put_heap(0, 0x1000000, 0x2000000, 0x5000000);
	put_heap(1, 0x2000000, 0x3000000, 0x6000000);
	put(LIST + 4, 2, 4);
	put(LIST + 8, DATA, 8);
	put(HEAPS_VARIABLE, version < 9 ? CODE_HEAPS : LIST, 8);
	put(QUEUE_VARIABLE, QUEUE, 8);
	put(QUEUE + 8, 0x1000400, 8);
	put(QUEUE + 20, 0x20000, 4);
	put(CALL_VARIABLE, 0x1000123, 8);
}

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
		put(ENTRIES + 48ULL * i + 32, 300, 8);
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
