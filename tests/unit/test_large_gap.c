// SPDX-License-Identifier: BSD-2-Clause
/*
 * More code without call frame information than is read at a time, as x265's assembly is:
 * what is told of it, and where its functions begin, also where they lie in two parts.
 */
#include "gap_code.h"
#include "named.h"

#include "unwind/x86_flow.h"

#define FUNCTIONS 200000
#define FUNCTION                                                                         \
	"push %rbx; sub $16, %rsp; movabs $1, %rax; dec %edi; jz 1f; movabs $2, %rax; "  \
	"movabs $3, %rax; 1: add $16, %rsp; pop %rbx; ret\n"
#define BYTES 45
#define PART  (X86_FLOW_MAX - 2 * X86_FLOW_AROUND)

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	build(".rept 200000\n" FUNCTION ".endr");
	return 0;
}

static int teardown(void **state)
{
	image_free(&image);
	return files_teardown(state);
}

static void check_function(uint64_t at)
{
	static const struct {
		unsigned int at;
		int depth;
	} insns[] = { { 0, 8 },	  { 1, 16 },  { 5, 32 },  { 15, 32 }, { 17, 32 },
		      { 19, 32 }, { 29, 32 }, { 39, 32 }, { 43, 16 }, { 44, 8 } };

	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		struct unwind_rule rule = image_rule(&image, base + at + insns[i].at);

		assert_int_equal(rule.cfa, UNWIND_CFA_SP);
		assert_int_equal(rule.cfa_offset, insns[i].depth);
		assert_int_equal(rule.fp, UNWIND_FP_SAME);
	}
}

/* Of some, and of all around where a part ends. */
static void each_is_told(void **state)
{
	size_t n_seams = 0;

	for (uint64_t k = 0; k < FUNCTIONS; k++) {
		uint64_t at = k * BYTES;
		bool is_at_seam = at > PART / 2 && (at + 200) % PART < 400;

		n_seams += at % PART > PART - BYTES;
		if (is_at_seam || k % 101 == 0 || k + 50 > FUNCTIONS)
			check_function(at);
	}
	assert_int_equal(n_seams, FUNCTIONS * BYTES / PART);
}

static void each_has_its_start(void **state)
{
	int fd = open_file("switch.so");

	for (uint64_t k = 1; k < FUNCTIONS; k += FUNCTIONS / 50) {
		uint64_t start = base + k * BYTES;
		char name[32];

		snprintf(name, sizeof(name), "0x%lx", start);
		assert_string_equal(
			name_by(function_starts, fd, offset_of(fd, start + BYTES / 2)),
			name);
	}
	close(fd);
}

/* Is its push told? It jumps 256 bytes and so many times 64 KB on, and `behind` bytes of
 * more code lie there. */
static bool is_told(uint8_t times_64k, uint64_t behind)
{
	const uint8_t code[] = {
		0x53,				/* push %rbx */
		0x48, 0x85, 0xc0,		/* test %rax, %rax */
		0x74, 2,			/* jz 1f */
		0x5b, 0xc3,			/* pop %rbx; ret */
		0x5b,				/* 1: pop %rbx */
		0xe9, 0,    1,	  times_64k, 0, /* jmp */
	};
	const struct x86_code part = {
		.bytes = code, .n = sizeof(code), .vaddr = 0x1000, .behind = behind
	};
	AUTO(x86_flow) flow = NULL;
	struct unwind_rule rule;
	bool told;

	assert_int_equal(x86_flow_read(&part, &flow), 0);
	told = x86_flow_rule(flow, 1, &rule);
	if (told)
		assert_int_equal(rule.cfa_offset, 16);
	return told;
}

/* Into another function, or into what is another part of this one. */
static void who_jumps_into_another_part_is_not_told(void **state)
{
	for (uint64_t behind = 0; behind <= 512; behind += 256)
		assert_int_equal(is_told(0, behind), behind <= 256);
}

/* No function is so long: there another one goes on with its return address. */
static void who_jumps_further_is_told(void **state)
{
	assert_true(is_told(2, 1 << 20));
	assert_false(is_told(0, 1 << 20));
}

static uint64_t unread_bytes(void)
{
	int fd = open_file("switch.so");
	AUTO(unwind_table) table = NULL;

	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	close(fd);
	return unwind_table_stats(table)->unread_bytes;
}

/* Native images of large applications have that much; zeros are passed at once. */
static void up_to_48_mb_are_read(void **state)
{
	image_free(&image);
	build(".zero 41943040\n.p2align 4, 0\n" FUNCTION);
	check_function(41943040 + (-base & 15));
	assert_int_equal(unread_bytes(), 0);
	image_free(&image);
	build(".zero 52428800\n.p2align 4, 0\n" FUNCTION);
	assert_int_equal(image_rule(&image, base + 52428800 + (-base & 15)).cfa,
			 UNWIND_CFA_NONE);
	assert_in_range(unread_bytes(), 52428800, 52428800 + 4096);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_told),
		cmocka_unit_test(each_has_its_start),
		cmocka_unit_test(who_jumps_into_another_part_is_not_told),
		cmocka_unit_test(who_jumps_further_is_told),
		cmocka_unit_test(up_to_48_mb_are_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
