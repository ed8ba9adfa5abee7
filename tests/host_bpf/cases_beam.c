// SPDX-License-Identifier: BSD-2-Clause
/* Code of Erlang's runtime, which has stacks of its own, beside the file that runs it. */
#include "code.h"

#define FIRST_AT 0x40300ULL /* where its processes' first functions return to */

/* A scheduler's thread: what it lets C have, registers of Erlang's, and its caller. */
#define REGISTERS (STACK + 48 + 0x80)
#define ABOVE	  (REGISTERS + 2 * 1024 * 8)
#define ENTERED	  (ABOVE + 8 * 25)

#define PROCESS 0x800000ULL /* a stack of a process of Erlang's */
#define A_TERM	0x80013aULL

/* Function 0 is C that Erlang's code calls, 1 a scheduler's, 2 called that. */
static void put_beam(void)
{
	put_host(RULE(.cfa = UNWIND_CFA_REG, .reg = 3, .cfa_offset = SITE(1)),
		 UNWIND_HOST);
	memory_put(FIRST_AT - 8, 0);
}

static void put_scheduler(void)
{
	for (int i = 0; i < 48; i++)
		memory_put(ABOVE + 8 * (uint64_t)i, 0x5555000 + (uint64_t)i);
	memory_put(ENTERED, SITE(1));
	put_call(ENTERED + 8, 64, 2);
}

/* The leaf is C that Erlang's code calls. */
static struct sampled in_c(void)
{
	struct sampled at;

	put_beam();
	put_scheduler();
	at = leaf_in_code(0);
	memory_put(STACK + 40, HOSTED_AT);
	at.regs[3] = REGISTERS;
	at.fp = PROCESS;
	memory_put(PROCESS, A_TERM);
	memory_put(PROCESS + 8, A_TERM);
	return at;
}

/* It is in Erlang's code. */
static struct sampled in_erlang(void)
{
	struct sampled at = in_c();

	at.pc = HOSTED_AT;
	at.sp = PROCESS - 16;
	memory_put(at.sp, A_TERM);
	return at;
}

/* One call of Erlang's in another in a process's first function. */
static void put_process(void)
{
	put_frame(PROCESS, PROCESS + 0x40, HOSTED_AT);
	put_frame(PROCESS + 0x40, PROCESS + 0x80, HOSTED_AT);
	put_frame(PROCESS + 0x80, 0, FIRST_AT);
}

static void test_without_frame_pointers(void **state)
{
	struct sampled at = in_c();

	ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	at.fp = 0;
	ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	at = in_erlang();
	ASSERT_WALK(&at, "UCC", "40208 10108 10208", START);
}

static void test_with_frame_pointers(void **state)
{
	struct sampled at = in_c();

	put_process();
	ASSERT_WALK(&at, "UCCCCC", "10000 40208 40208 40208 10108 10208", START);
	at.fp = PROCESS + 0x80;
	ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	/* what the scheduler does itself */
	at.fp = 0;
	ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	at = in_erlang();
	put_process();
	ASSERT_WALK(&at, "UCCCC", "40208 40208 40208 10108 10208", START);
}

/* A record is one by where it leads, and where that leads. */
static void test_no_frame_pointer(void **state)
{
	const struct {
		uint64_t at, word;
	} flaws[] = {
		{ PROCESS + 8, FIRST_AT },     /* behind no call */
		{ PROCESS, PROCESS - 0x40 },   /* down the stack */
		{ PROCESS, PROCESS + 0x44 },   /* misaligned */
		{ PROCESS, PROCESS + 0x2000 }, /* not there */
		{ PROCESS + 0x48, FIRST_AT },  /* the next one, behind no call */
		{ PROCESS + 0x48, A_TERM },    /* the same */
	};

	for (size_t i = 0; i < sizeof(flaws) / sizeof(*flaws); i++) {
		struct sampled at = in_c();

		put_process();
		memory_put(flaws[i].at, flaws[i].word);
		ASSERT_WALK(&at, "UCCC", "10000 40208 10108 10208", START);
	}
}

/* Where a function of Erlang's begins, and where it ends, its caller is all there is. */
static void test_without_a_frame(void **state)
{
	struct sampled at = in_erlang();

	put_process();
	memory_put(at.sp, HOSTED_AT);
	ASSERT_WALK(&at, "UCCCCC", "40208 40208 40208 40208 10108 10208", START);
	/* the same on a scheduler's stack is what some register of Erlang's has */
	at.sp = STACK + 48;
	memory_put(at.sp, HOSTED_AT);
	ASSERT_WALK(&at, "UCCCC", "40208 40208 40208 10108 10208", START);
	/* a term that is behind what might be a call, or an address of the host's */
	at.sp = PROCESS - 16;
	put_call_before(PROCESS + 0x100);
	memory_put(at.sp, PROCESS + 0x100);
	ASSERT_WALK(&at, "UCCCC", "40208 40208 40208 10108 10208", START);
	memory_put(at.sp, SITE(1));
	ASSERT_WALK(&at, "UCCCC", "40208 40208 40208 10108 10208", START);
}

/* Then it goes by its frame pointer, as other generated code. */
static void test_no_scheduler(void **state)
{
	struct sampled at = in_c();

	put_process();
	memory_put(ENTERED, SITE(1) + 1);
	ASSERT_WALK(&at, "UCPPP", "10000 40208 40208 40208 40300", FP_ZERO);
	memory_put(ENTERED, SITE(1) | 1ULL << 32); /* half of it is the same */
	ASSERT_WALK(&at, "UCPPP", "10000 40208 40208 40208 40300", FP_ZERO);
	memory_put(ENTERED, 0x5555019);
	memory_put(ABOVE + 8 * 48, SITE(1)); /* too far away */
	ASSERT_WALK(&at, "UCPPP", "10000 40208 40208 40208 40300", FP_ZERO);
	at.regs[3] = REGISTERS + 4;
	ASSERT_WALK(&at, "UCPPP", "10000 40208 40208 40208 40300", FP_ZERO);
}

int run_beam_cases(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_without_frame_pointers), CASE(test_with_frame_pointers),
		CASE(test_no_frame_pointer),	   CASE(test_without_a_frame),
		CASE(test_no_scheduler),
	};

	return cmocka_run_group_tests_name("beam", tests, NULL, NULL);
}
