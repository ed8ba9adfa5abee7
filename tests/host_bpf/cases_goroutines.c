// SPDX-License-Identifier: BSD-2-Clause
/* Go's runtime on the scheduler's stack: what it keeps of the goroutine leads on. */
#include "code.h"

#define G	  0x200000
#define M	  0x201000
#define GOROUTINE 0x202000
#define ITS_STACK 0x300000
#define OF_G	  48 /* its m, and what is kept of its stack behind that */
#define OF_M	  184
#define LR_WORD	  5
#define GO_RULE(...)                                                                     \
	((struct unwind_rule){ .cfa = UNWIND_CFA_GO,                                     \
			       .cfa_offset = -8,                                         \
			       .deref_offset = OF_G,                                     \
			       .reg = OF_M / 8,                                          \
			       .bx_words = UNWIND_BX_LOST,                               \
			       __VA_ARGS__ })

/* Function 0 runs on the scheduler's stack, called by 1, which is the runtime's. The
 * goroutine was in function 2, which 3 called. */
static struct sampled put_goroutine(struct unwind_rule keeps, struct unwind_rule its)
{
	const struct unwind_rule rules[] = { RULE_SP(16), keeps, its, RULE_OF(END) };
	struct sampled at = leaf_in_code(0);

	put_code(rules, 4, 0);
	at.process_info = tables_process_info();
	at.fp = 0;
	at.tp = G + 0x800 + 8;
	at.g = G;
	put_call(STACK, 16, 1);
	memory_put(G + 0x800, G);
	memory_put(G + OF_G, M);
	memory_put(M + OF_M, GOROUTINE);
	memory_put(GOROUTINE + OF_G, M);
	memory_put(GOROUTINE + OF_G + 8, ITS_STACK);
	memory_put(GOROUTINE + OF_G + 16, SITE(2));
	memory_put(GOROUTINE + OF_G + 56, 0);
	return at;
}

/* runtime.systemstack, before Go 1.21 */
static void test_return_address_on_its_stack(void **state)
{
	struct sampled at = put_goroutine(GO_RULE(.ra_words = -1), RULE_SP(32));

	memory_put(ITS_STACK, SITE(2));
	put_call(ITS_STACK + 8, 32, 3);
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
}

/* runtime.morestack, which a function calls before it has a frame */
static void test_pc_that_is_kept(void **state)
{
	const struct unwind_rule keeps =
		GO_RULE(.ra = UNWIND_RA_REG, .fp = UNWIND_FP_LOST);
	struct sampled at = put_goroutine(keeps, RULE_SP(8));

	memory_put(ITS_STACK, SITE(3));
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
}

static void test_link_register_that_is_kept(void **state)
{
	const struct unwind_rule keeps =
		GO_RULE(.ra = UNWIND_RA_REG, .ra_words = LR_WORD, .fp = UNWIND_FP_LOST);
	const struct unwind_rule its = { .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_LR };
	struct sampled at;

	fp_gives_sp = false;
	at = put_goroutine(keeps, its);
	memory_put(GOROUTINE + OF_G + 8 * LR_WORD, SITE(3));
	ASSERT_WALK(&at, "UCUC", "10000 10108 10208 10308", START);
	/* an empty frame ends where the one below does, whenever that is looked at */
	for (int n = 0; n < 20; n++) {
		const struct unwind_rule rules[] = { RULE_SP(16), keeps, its,
						     RULE_OF(END) };
		uint64_t sp = STACK;

		world_setup(NULL);
		fp_gives_sp = false;
		at = put_goroutine(keeps, its);
		put_code(rules, 4, 0);
		at.process_info = tables_process_info();
		memory_put(GOROUTINE + OF_G + 8 * LR_WORD, SITE(3));
		for (int i = 0; i < n; i++)
			sp = put_call(sp, 16, 0);
		put_call(sp, 16, 1);
		assert_int_equal(walker_sample(&at)->ending, END_START);
	}
}

/* runtime.asmcgocall: beside C lie the g, and how far sp was below the end of its stack;
 * or what sp was, of who was on the scheduler's stack already. */
static void test_beside_c(void **state)
{
	const struct unwind_rule keeps = { .cfa = UNWIND_CFA_GO_C, .ra_words = -2 };
	const struct {
		uint64_t g, was;
		bool known;
	} cases[] = {
		{ GOROUTINE, 0x100, true },
		{ 0, ITS_STACK, true },
		{ 0x555555555000, 0x100, false },
		{ GOROUTINE, 0x1000, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at;

		world_setup(NULL);
		fp_gives_sp = false;
		at = put_goroutine(keeps, RULE_SP(32));
		memory_put(GOROUTINE + 8, ITS_STACK + 0x100);
		memory_put(STACK + 16, cases[i].g);
		memory_put(STACK + 24, cases[i].was);
		memory_put(ITS_STACK, SITE(2));
		put_call(ITS_STACK + 16, 32, 3);
		if (cases[i].known)
			ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
		else
			assert_int_not_equal(walker_sample(&at)->ending, END_START);
	}
}

/* Who has no goroutine, or another's memory, has no caller. */
static void test_nothing_kept(void **state)
{
	static const uint64_t places[] = { G + 0x800, G + OF_G, M + OF_M,
					   GOROUTINE + OF_G };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct sampled at;

		for (uint64_t other = 0; other <= M + 8; other += M + 8) {
			world_setup(NULL);
			at = put_goroutine(GO_RULE(.ra_words = -1), RULE_SP(32));
			memory_put(ITS_STACK, SITE(2));
			memory_put(places[i], other);
			ASSERT_WALK(&at, "UC", "10000 10108 cut", TORN);
		}
	}
}

int run_goroutine_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_return_address_on_its_stack),
		CASE(test_pc_that_is_kept),
		CASE(test_link_register_that_is_kept),
		CASE(test_beside_c),
		CASE(test_nothing_kept),
	};

	return cmocka_run_group_tests_name("goroutines", tests, NULL, NULL);
}
