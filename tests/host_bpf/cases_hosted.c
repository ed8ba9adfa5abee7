// SPDX-License-Identifier: BSD-2-Clause
/* Generated code that lies on a frame of one size, beside the file that runs it. */
#include "code.h"

static const struct unwind_rule hosted =
	RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .bx_words = -4);

/* The leaf is in generated code with so many words more on the stack; rbp is not its. */
static struct sampled in_hosted_code(int more)
{
	struct sampled at = leaf_in_code(0);
	uint64_t end = STACK + 8 * (uint64_t)more;

	for (int i = 0; i < more + 3; i++)
		memory_put(STACK + 8 * (uint64_t)i, 0x5555000 + (uint64_t)i);
	put_call(put_call(end, 32, 1), 64, 2);
	at.pc = HOSTED_AT;
	at.fp = STACK + 0x400;
	put_frame(at.fp, 0, SITE(2));
	return at;
}

static void test_hosted(void **state)
{
	struct sampled at;

	put_host(hosted, UNWIND_HOST);
	at = in_hosted_code(0);
	ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
}

static void test_called_by_hosted_code(void **state)
{
	struct sampled at;

	put_host(hosted, UNWIND_HOST);
	at = leaf_in_code(0);
	memory_put(STACK + 40, HOSTED_AT);
	put_call(put_call(STACK + 48, 32, 1), 64, 2);
	ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	/* which called it once more from there */
	memory_put(STACK + 48 + 32 + 56, HOSTED_AT);
	put_call(put_call(STACK + 48 + 32 + 64, 32, 1), 64, 2);
	ASSERT_WALK(&at, "UCCCCC", "10000 40208 10108 40208 10108 10208", START);
}

/* As PHP's, on the frame of an interpreter that keeps a frame pointer. */
static void test_hosted_by_frame_pointer(void **state)
{
	struct sampled at;

	put_host(RULE_FP, UNWIND_HOST);
	at = in_hosted_code(0);
	put_frame(at.fp, 0, SITE(1));
	put_call(at.fp + 16, 64, 2);
	ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
}

/* Then it goes by its frame pointer, as other generated code. */
static void test_not_hosted(void **state)
{
	struct sampled at;

	put_host(hosted, 0); /* nobody beside it is a host */
	at = in_hosted_code(0);
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	put_host(hosted, UNWIND_HOST);
	at = in_hosted_code(1);
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	at = in_hosted_code(0);
	memory_put(STACK + 24, SITE(1) + 1); /* behind no call */
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	memory_put(STACK + 24, OTHERS + 8); /* of another file */
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	memory_put(STACK + 24, HOSTED_AT);
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	memory_put(STACK + 8, SITE(1)); /* as of a helper, which others have not */
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	/* the host's own, of which it has no rule */
	memory_put(STACK + 24, SITE(1));
	at = in_hosted_code(0);
	at.pc = HOST_END - 8;
	ASSERT_WALK(&at, "UP", "103f8 10208", START);
	tables_page(at.process_info.mapping_table)->mapping_head.host = 0;
	at.pc = HOSTED_AT;
	ASSERT_WALK(&at, "UP", "40208 10208", START);
}

/* It pushed registers, to call its host for more code, and takes them off behind that. */
static void test_hosted_with_more(void **state)
{
	/* mov %rax,%rcx; pop %rax, %r10, %r9, %r8, %rdi, %rsi; jmp *%rcx */
	const uint64_t pops = 0x59415a4158c18948, no_pop = 0x59415a4158909090;
	struct sampled at;

	for (int more = 5; more <= 7; more++) {
		put_host(hosted, UNWIND_HOST);
		memory_put(HOSTED_AT, pops);
		memory_put(HOSTED_AT + 8, 0x90e1ff5e5f5841);
		at = in_hosted_code(more);
		if (more == 6)
			ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
		else
			ASSERT_WALK(&at, "UP", "40208 10208", START);
		memory_put(HOSTED_AT, no_pop);
		ASSERT_WALK(&at, "UP", "40208 10208", START);
	}
}

/* Or by adding, as GHC's code does that aligned the stack, or passed something on it. */
static void test_hosted_with_more_room(void **state)
{
	/* add $24, %rsp */
	const uint64_t add = 0x9090909018c48348,
		       others[] = { 0x9090909018ec8348, 0x90909090e8c48348 };
	struct sampled at;

	put_host(hosted, UNWIND_HOST);
	at = in_hosted_code(3);
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	memory_put(HOSTED_AT, add);
	ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
	for (int i = 0; i < 2; i++) { /* sub, and add of less than 0 */
		memory_put(HOSTED_AT, others[i]);
		ASSERT_WALK(&at, "UP", "40208 10208", START);
	}
}

/* As GHC's, compiled into files. */
static void test_hosted_in_a_file(void **state)
{
	struct sampled at;

	put_host(hosted, UNWIND_HOST | UNWIND_HOST_OF_FILES);
	at = in_hosted_code(0);
	at.pc = HOST_END - 8;
	ASSERT_WALK(&at, "UCC", "103f8 10108 10208", START);
	/* code that its file tells of goes by that */
	memory_put(STACK + 40, SITE(1));
	at.pc = SITE(0);
	put_call(STACK + 48, 64, 2);
	ASSERT_WALK(&at, "UCC", "10008 10108 10208", START);
}

/* Of a process that was not heard of yet: the file says that there is a host. */
static void test_hosted_in_a_file_too_early(void **state)
{
	static struct vma_list vmas;
	const union unwind_page *page;
	struct sampled at;

	put_host(hosted, UNWIND_HOST | UNWIND_HOST_OF_FILES);
	at = in_hosted_code(0);
	at.pc = HOST_END - 8;
	page = tables_page(at.process_info.mapping_table);
	vmas.n = at.process_info.n_mappings;
	for (__u32 i = 1; i <= vmas.n; i++)
		vmas.of[i - 1] = page->mappings[i];
	at.process_info.mapping_table = 0;
	at.vmas = &vmas;
	ASSERT_WALK(&at, "U", "103f8 cut", AWAITED);
}

/* PyPy's calls more of its kind, and C by way of a helper that aligns the stack. */
static void test_hosted_that_nests(void **state)
{
	struct unwind_rule nests = hosted;
	struct sampled at;

	nests.reg = UNWIND_NESTS;
	put_host(nests, UNWIND_HOST);
	at = in_hosted_code(0);
	memory_put(STACK + 24, HOSTED_AT);
	put_call(put_call(STACK + 32, 32, 1), 64, 2);
	ASSERT_WALK(&at, "UCCC", "40208 40208 10108 10208", START);
	at = in_hosted_code(2);
	memory_put(STACK + 8, HOSTED_AT);
	ASSERT_WALK(&at, "UCCC", "40208 40208 10108 10208", START);
	memory_put(STACK + 8, HOSTED_AT + 1); /* behind no call */
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	memory_put(STACK + 8, OTHERS + 8);
	ASSERT_WALK(&at, "UP", "40208 10208", START);
	/* a helper that has not aligned it yet; not what has called from there */
	at = in_hosted_code(1);
	memory_put(STACK, HOSTED_AT);
	ASSERT_WALK(&at, "UCCC", "40208 40208 10108 10208", START);
	at = in_hosted_code(0);
	for (uint64_t i = 0; i < 48; i += 8)
		memory_put(STACK + i, i == 8 || i == 16 ? HOSTED_AT : OTHERS + 8);
	ASSERT_WALK(&at, "UCP", "40208 40208 10208", START);
}

/* It takes its own frame down: pop %rbx, %r12, %r13; ret */
static void test_hosted_that_returns(void **state)
{
	const uint64_t codes[] = { 0xc35d415c415b, 0xc35d415c41, 0xc35d41 };
	struct sampled at;

	for (int i = 0; i < 3; i++) {
		put_host(hosted, UNWIND_HOST);
		memory_put(HOSTED_AT, codes[i]);
		at = in_hosted_code(0);
		at.sp = STACK + 8 * (uint64_t)i;
		ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
	}
}

/* A copy of the code says more. */
static void test_copy_goes_first(void **state)
{
	const struct unwind_rule rules[] = { RULE_SP(48), RULE_SP(64), RULE_OF(END) };
	struct sampled at;
	uint32_t copied;

	for (uint64_t i = HOSTED; i < HOSTED + 0x1000; i += 8)
		memory_put(i, 0x9090909090909090);
	put_call_before(HOSTED_AT);
	copied = put_copy_of(HOSTED, RULE_SP(32 + 64));
	put_code(rules, 3, UNWIND_HOST);
	mapping_table_add(HOSTED, HOSTED + 0x1000, 0, copied,
			  UNWIND_COPIED | UNWIND_HOST);
	put_call_before(SITE(1));
	put_call_before(SITE(2));
	at = leaf_in_code(0);
	tables_page(at.process_info.mapping_table)->mapping_head.hosted = hosted;
	tables_page(at.process_info.mapping_table)->mapping_head.host =
		mapping_table_find(CODE)->table;
	memory_put(STACK + 40, HOSTED_AT);
	put_call(put_call(STACK + 48, 32, 1), 64, 2);
	ASSERT_WALK(&at, "UCC", "10000 40208 10208", START);
}

/* Who is not loaded with what finds its frames does not try. */
static void test_tick_without_it(void **state)
{
	struct sampled at;

	put_host(hosted, UNWIND_HOST);
	at = in_hosted_code(0);
	knobs.parts = PARTS_ALL & ~PART_HOSTED;
	ASSERT_WALK(&at, "U", "40208 cut", AWAITED);
	/* of the host itself it has no need */
	at = leaf_in_code(0);
	put_call(put_call(STACK, 48, 1), 64, 2);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
}

int run_hosted_cases(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_hosted),
		CASE(test_called_by_hosted_code),
		CASE(test_not_hosted),
		CASE(test_hosted_by_frame_pointer),
		CASE(test_hosted_with_more),
		CASE(test_hosted_that_returns),
		CASE(test_copy_goes_first),
		CASE(test_hosted_with_more_room),
		CASE(test_hosted_in_a_file),
		CASE(test_hosted_in_a_file_too_early),
		CASE(test_hosted_that_nests),
		CASE(test_tick_without_it),
	};

	return cmocka_run_group_tests_name("hosted", tests, NULL, NULL);
}
