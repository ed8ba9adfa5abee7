// SPDX-License-Identifier: BSD-2-Clause
/* HotSpot's code where sp is lower than its code cache says: what calls say of that. */
#include "java.h"

#include <string.h>

#define PLAIN	     (BLOB(CALLEE) + COMPLETE + 3) /* where nothing is special */
#define STALE	     (BLOB_SITE(CALLER) + 0x40) /* a call to something else ends there */
#define CALLEE_BELOW (CALLEE_END - CALLEE_BYTES)

/* The callee's leaf, with so many bytes on the stack that its size says nothing of. Where
 * its return address would be without them, there is one that another call has left. */
static struct sampled put_pushed(struct hotspot *vm, uint64_t pushed)
{
	struct sampled at = put_java(vm);

	for (uint64_t i = 0; i < 64; i++)
		memory_put(CALLEE_END - 8 * i, 0);
	put_frame(CALLEE_END - 16, GARBAGE, BLOB_SITE(CALLER));
	put_call_to(STALE, BLOB(OTHER_ONE));
	put_bytes(PLAIN - 3, "\x44\x8b\xd5\x41\xff\xc2", 6);
	at.pc = PLAIN;
	at.sp = CALLEE_BELOW - pushed;
	at.fp = GARBAGE;
	if (pushed)
		memory_put(CALLEE_END - pushed - 8, STALE);
	return at;
}

static void test_pushed_words(void **state)
{
	for (uint64_t pushed = 0; pushed <= 32; pushed += 8) {
		struct sampled at = put_pushed(&java_layouts[pushed & 1], pushed);

		assert_java(&at, "UCCCC");
	}
}

/* Where sp was is the last word that was pushed. */
static void test_pushed_sp(void **state)
{
	for (uint64_t pushed = 0x20; pushed <= 0x40; pushed += 16) {
		struct sampled at = put_pushed(&java_layouts[0], pushed);

		memory_put(at.sp, CALLEE_BELOW);
		assert_java(&at, "UCCCC");
	}
}

static void assert_cut(struct sampled *at)
{
	char text[40];

	sprintf(text, "%llx cut", (unsigned long long)at->pc);
	ASSERT_WALK(at, "U", text, BROKEN);
}

/* A call that leads to another method's code did not lead here. One that leads to a stub
 * may have, as one to other code of the same method. */
static void test_call_of_another(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct hotspot *vm = &java_layouts[i & 1];
		struct sampled at = put_pushed(vm, 0);
		uint64_t target = i < 2 ? STUBS + 0x100 : BLOB(OTHER_ONE);

		put_call_to(BLOB_SITE(CALLER), i < 6 ? target : SITE(1));
		if (i == 2 || i == 3) {
			put_field(vm->method, BLOCK(OTHER_ONE), (int64_t)BLOCK(CALLEE));
		}
		if (i < 4)
			assert_java(&at, "UCCCC");
		else
			assert_cut(&at);
	}
}

/* String.compareTo()'s number of 32 bits: who called perhaps, called. */
static void test_pushed_number(void **state)
{
	for (int i = 0; i < 5; i++) {
		struct sampled at = put_pushed(&java_layouts[i & 1], 8);

		put_call_to(BLOB_SITE(CALLER), i == 2 ? BLOB(OTHER_ONE) : STUBS + 0x100);
		memory_put(at.sp, i == 3 ? 1ULL << 32 : 0xffffffff);
		/* where the frame would end otherwise, its caller's frame pointer is */
		memory_put(CALLEE_END - 16, i == 4 ? STALE : GARBAGE);
		if (i < 2)
			assert_java(&at, "UPCCC");
		else
			assert_cut(&at);
	}
}

/* Calls that may have led here, and each of which may be the frame's. */
static void put_perhaps(void)
{
	put_call_to(BLOB_SITE(CALLER), STUBS + 0x100);
	put_call_to(STALE, STUBS + 0x100);
}

/* Perhaps called, and the frame pointer lies there as well. */
static void test_pushed_below_fp(void **state)
{
	for (uint64_t pushed = 8; pushed <= 40; pushed += 8)
		for (int i = 0; i < 4; i++) {
			struct sampled at = put_pushed(&java_layouts[i & 1], pushed);
			bool is_whole = i < 2 && pushed <= 32;

			put_perhaps();
			memory_put(at.sp, GARBAGE);
			if (!is_whole)
				memory_put(CALLEE_END - pushed - 8, GARBAGE);
			at.fp = CALLEE_END - 16 - (i < 2 ? 0 : 24);
			if (is_whole)
				assert_java(&at, "UCCCC");
			else
				assert_cut(&at);
		}
}

/* JDK 8's sin() pushes what the x87 takes. Where one call alone may have led here, it
 * did. */
static void test_pushed_for_x87(void **state)
{
	static const char *const code[] = { "\x90\x90\x90\xd9\xfe\x90",
					    "\x90\xd9\xfe\x48\x83\xec",
					    "\xdd\x1c\x24\x48\x83\xc4",
					    "\x90\x90\x90\x90\xd9\xfe" };

	for (uint64_t pushed = 8; pushed <= 40; pushed += 8)
		for (int i = 0; i < 8; i++) {
			struct sampled at = put_pushed(&java_layouts[i & 1], pushed);
			bool is_by_x87 = i % 4 != 3, is_alone = !is_by_x87 || i < 4;

			put_perhaps();
			memory_put(at.sp, GARBAGE);
			put_bytes(PLAIN - 3, code[i % 4], 6);
			if (is_alone || pushed > 32)
				memory_put(CALLEE_END - pushed - 8, GARBAGE);
			if (is_by_x87 && is_alone && pushed <= 32)
				assert_java(&at, "UPCCC");
			else
				assert_cut(&at);
		}
}

/* C calls no method, so where C goes on is no frame's end. */
static void test_call_out_of_c(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct sampled at = put_pushed(&java_layouts[i & 1], 0);

		if (i < 2)
			put_call_to(FUNCTION(1), FUNCTION(2));
		else
			put_bytes(FUNCTION(1) - 2, "\xff\xd0", 2);
		memory_put(CALLEE_END - 8, FUNCTION(1));
		assert_cut(&at);
	}
}

/* The callee calls C, and has more on its stack meanwhile: `code` follows. */
static void check_call_of_c(const char *code, size_t n, uint64_t more, bool is_whole)
{
	struct sampled at = put_pushed(&java_layouts[0], more);
	uint64_t site = BLOB(CALLEE) + COMPLETE + 0x20, sp = CALLEE_BELOW - more;
	char text[100];

	put_bytes(site - 2, "\xff\xd0", 2);
	put_bytes(site, code, n);
	put_call(sp - 16, 16, 0);
	memory_put(sp - 8, site);
	at.pc = FUNCTION(0);
	at.sp = sp - 16;
	if (is_whole)
		sprintf(text, "%llx %llx %llx %llx 10108 10208",
			(unsigned long long)at.pc, (unsigned long long)site,
			BLOB_SITE(CALLER), CALL_STUB);
	else
		sprintf(text, "%llx %llx cut", (unsigned long long)at.pc,
			(unsigned long long)site);
	if (is_whole)
		ASSERT_WALK(&at, "UCCCCC", text, START);
	else
		ASSERT_WALK(&at, "UC", text, BROKEN);
}

#define CHECK_CALL_OF_C(code, more, is_whole)                                            \
	check_call_of_c(code, sizeof(code) - 1, more, is_whole)

#define RELOAD	 "\x48\x8b\x44\x24\x08" /* mov 8(%rsp),%rax */
#define RELOAD_0 "\x4c\x8b\x04\x24"	/* mov (%rsp),%r8 */
#define RELOAD_4 "\x4c\x8b\x94\x24\x80\x00\x00\x00"
#define MOVE	 "\x4c\x8b\xc0" /* mov %rax,%r8 */
#define MOVE_TO	 "\x49\x89\xc0"
#define VECTOR	 "\xc5\xfa\x6f\x44\x24\x10" /* vmovdqu 16(%rsp),%xmm0 */
#define VECTOR_5 "\x62\xf1\xfe\x48\x6f\x44\x24\x01"
#define ZERO	 "\xc5\xf8\x77"	    /* vzeroupper */
#define DROP	 "\x48\x83\xc4\x20" /* add $32,%rsp */
#define DROP_4	 "\x48\x81\xc4\x00\x01\x00\x00"
#define BACK	 "\xe9\x10\x20\x00\x00"
#define NEAR	 "\xeb\x10"
#define NOTHING	 "\x44\x8b\xd5\x41\xff\xc2"

static void test_call_of_c(void **state)
{
	CHECK_CALL_OF_C(NOTHING, 0, true);
	CHECK_CALL_OF_C("\x5b\x5b" NOTHING, 16, true);
	CHECK_CALL_OF_C("\x41\x58\x5a" NOTHING, 16, true);
	CHECK_CALL_OF_C("\x58" NOTHING, 8, true);
	CHECK_CALL_OF_C(RELOAD RELOAD_0 ZERO DROP BACK, 32, true);
	CHECK_CALL_OF_C(MOVE RELOAD RELOAD_4 DROP NEAR, 32, true);
	CHECK_CALL_OF_C(MOVE_TO VECTOR VECTOR_5 RELOAD DROP_4 BACK, 256, true);
	CHECK_CALL_OF_C(DROP_4 NEAR, 256, true);
	/* the frame's own end, and what else runs in between */
	CHECK_CALL_OF_C(RELOAD DROP "\x5d\xc3", 32, false);
	CHECK_CALL_OF_C(RELOAD NOTHING DROP BACK, 32, false);
	CHECK_CALL_OF_C(NOTHING, 32, false);
}

/* A stub that pushed registers, and has no frame: where a call led to it. What C1 has on
 * the stack for it is popped afterwards. */
static void test_stub_that_pushes(void **state)
{
	static const int sizes[] = { 0, -1 };

	for (uint64_t pushed = 8; pushed <= 8 * 28; pushed += 8)
		for (int i = 0; i < 2; i++) {
			struct hotspot *vm = &java_layouts[i];
			struct sampled at = put_pushed(vm, 0);
			uint64_t sp = CALLER_END - CALLER_BYTES - 16 - 8;

			put_block(vm, STUBS, 32, sizes[i], -1);
			put_call_to(BLOB_SITE(CALLER), STUBS + 0x100);
			put_bytes(BLOB_SITE(CALLER), "\x5b\x5b\x90", 3);
			memory_put(sp, BLOB_SITE(CALLER));
			memory_put(CALLER_END - 16 - 8, STALE);
			at.pc = STUBS + 0x180;
			at.sp = sp - pushed;
			at.fp = STUB_FP; /* the call stub's */
			assert_java(&at, "UCCCC");
		}
}

/* Two calls led to the same block; the later stub is the one that runs. */
static void test_two_stubs(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct sampled at = put_pushed(&java_layouts[i], 0);

		put_call_to(BLOB_SITE(CALLER), STUBS + (i ? 0x80 : 0x120));
		put_call_to(STALE, STUBS + (i ? 0x120 : 0x80));
		at.pc = STUBS + 0x180;
		at.sp = i ? CALLEE_END - 8 : CALLEE_END - 0x30;
		at.fp = i ? CALLEE_END + 8 : CALLEE_END - 16;
		memory_put(i ? CALLEE_END + 16 : at.sp, STALE);
		memory_put(at.sp, i ? BLOB_SITE(CALLER) : STALE);
		if (i) { /* the one without a frame is the earlier one */
			put_call_to(BLOB_SITE(CALLER), STUBS + 0x120);
			put_call_to(STALE, STUBS + 0x80);
		}
		assert_java(&at, "UCCCC");
	}
}

/* Who looks after code that is entered is called from a stub with a word between its
 * record and its return address. */
static void test_entry_barrier(void **state)
{
	struct sampled at = put_pushed(&java_layouts[1], 0);
	uint64_t site = STUBS + 0x200, record = CALLEE_BELOW - 0x18;
	uint64_t barrier = BLOB(CALLEE) + COMPLETE + 0x80;
	char text[120];

	put_call_to(barrier, STUBS + 0x180);
	put_frame(record, GARBAGE, ~0ULL);
	memory_put(record + 16, barrier);
	put_call(record - 0x40, 16, 0);
	memory_put(record - 0x38, site);
	at.pc = FUNCTION(0);
	at.sp = record - 0x40;
	at.fp = record;
	sprintf(text, "%llx %llx %llx %llx %llx 10108 10208", (unsigned long long)at.pc,
		(unsigned long long)site, (unsigned long long)barrier, BLOB_SITE(CALLER),
		CALL_STUB);
	ASSERT_WALK(&at, "UCCCCCC", text, START);
}

#define BARRIER (STUBS + 0x200)

/* The frames that a virtual thread has on the heap are gone on behind where the entry of
 * its continuation ends, which has so many bytes, whatever the frame pointer is. */
static void check_return_barrier(struct hotspot *vm, uint64_t entry_bytes, bool is_whole)
{
	struct sampled at = put_pushed(vm, 0);
	uint64_t end = CALLEE_END - 16 - entry_bytes;
	char text[120];

	put_block(vm, STUBS, 32, entry_bytes & 8 ? 0 : -1, -1);
	put_bytes(BARRIER, "\x49\x8b\xa7\x18\x06\0\0\x50", 8);
	for (uint64_t i = 0; i < entry_bytes; i += 8)
		memory_put(end + i, STACK + i);
	put_frame(end - 16, GARBAGE, BARRIER);
	at.sp = end - CALLEE_BYTES;
	sprintf(text, "%llx %llx %llx %llx 10108 10208", (unsigned long long)at.pc,
		BARRIER, BLOB_SITE(CALLER), CALL_STUB);
	if (is_whole)
		ASSERT_WALK(&at, "UCCCCC", text, START);
	sprintf(text, "%llx %llx cut", (unsigned long long)at.pc, BARRIER);
	if (!is_whole)
		ASSERT_WALK(&at, "UC", text, BROKEN);
}

static void test_return_barrier(void **state)
{
	for (uint64_t bytes = 0x28; bytes <= 0x58; bytes += 8)
		check_return_barrier(&java_layouts[bytes >> 4 & 1], bytes,
				     bytes >= 0x30 && bytes <= 0x50);
}

int run_hotspot_call_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_pushed_words),   CASE(test_pushed_sp),
		CASE(test_pushed_number),  CASE(test_call_of_another),
		CASE(test_call_of_c),	   CASE(test_stub_that_pushes),
		CASE(test_two_stubs),	   CASE(test_entry_barrier),
		CASE(test_return_barrier), CASE(test_pushed_below_fp),
		CASE(test_pushed_for_x87), CASE(test_call_out_of_c),
	};

	return cmocka_run_group_tests_name("hotspot_calls", tests, NULL, NULL);
}
