// SPDX-License-Identifier: BSD-2-Clause
/* Text that other tools write: what perf script prints, and folded stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <stdio.h>
#include <string.h>

#include "read_back.h"

static void perf_script_is_read(void **state)
{
	char text[] = "a server 12/13 [001]  100.250000:     250000 cycles:u: \n"
		      "\t    55aa11 leaf+0x11 (/usr/bin/x)\n"
		      "\t    55aa12 small (inlined)\n"
		      "\t    55aa12 main+0x2 (/usr/bin/x)\n"
		      "\n"
		      "other    7   101.5:  1 cycles: \n"
		      "\tffffffff81 do_it+0x1 ([kernel.kallsyms])\n"
		      "\t         0 [unknown] (/lib/y.so)\n"
		      "\n"
		      "other    7   101.6:  1 cycles: \n"
		      "\t    55aa11 not_of_the_kernel_[k]+0x11 (/usr/bin/x)\n"
		      "\n";
	struct bytes bytes = { text, sizeof(text) - 1 };
	AUTO(profile) r = read_back(&bytes);

	assert_non_null(r);
	is_folded(r, VIEW_ASYNC,
		  "a server;main;small_[i];leaf 1\n"
		  "other;not_of_the_kernel_(k) 1\n"
		  "other;y.so+0x0;do_it_[k] 1\n");
	assert_int_equal(r->timeline.first, 100);
	assert_int_equal(r->timeline.last, 101);
	assert_int_equal(r->processes.items[1].pid, 12);
	assert_int_equal(r->threads.items[1].tid, 13);
}

/* A sample without callers has its frame on its head line; a tracepoint its text. */
static void perf_script_without_callers_is_read(void **state)
{
	char text[] =
		"  c_g  8 53.80:    5025125 cpu-clock:ppp:      55b6 work+0x4d (/c_g)\n"
		"  c_g  8 53.81:    5025125 cpu-clock:          55b6 add (/tmp/c_g)\n"
		"  c_g  8 53.82: cycles:     55b6 f\n"
		"  c_g  8 53.83:     55b6 f\n"
		"  c_g  8 53.84:     1 cycles:  55b6 [unknown] (/tmp/c_g)\n"
		"  c_g  8 53.85:     1 faults:  77 data+0x0 (/x) ff1 k+0x1 ([kernel])\n"
		"  c_g  8 53.85:     1 faults:  77 data+0x0 (/x)     55b6 f+0x1 (/c)\n"
		"  c_g  8 53.86:     1 faults:  77        55b6 f+0x1 (/tmp/c_g)\n"
		"  c_g  8 53.87: ftrace:print: ad hoc (text)\n"
		"  c_g  8 53.88:     1 cycles:  55b6 f+0x1 (/tmp/c_g) insn: 01 c2\n"
		"c_g  8 53.89:     1 faults:  77 data+0x0 (/x)\n"
		"\t   55b6 leaf+0x1 (/tmp/c_g)\n"
		"\t   55b7 main+0x1 (/tmp/c_g)\n"
		"\n";
	struct bytes bytes = { text, sizeof(text) - 1 };
	AUTO(profile) r = read_back(&bytes);

	assert_non_null(r);
	is_folded(r, VIEW_ASYNC,
		  "c_g 2\n"
		  "c_g;add 1\n"
		  "c_g;c_g+0x55b6 1\n"
		  "c_g;f 4\n"
		  "c_g;k_[k] 1\n"
		  "c_g;main;leaf 1\n"
		  "c_g;work 1\n");
	assert_int_equal(r->left_out, 1);
}

static bool has_module(const struct profile *r, const char *path)
{
	for (size_t i = 0; i < r->modules.n; i++)
		if (!strcmp(profile_string(r, r->modules.items[i].path), path))
			return true;
	return false;
}

static void modules_of_perf_script_have_any_name(void **state)
{
	static const char *const cases[][3] = {
		{ "work+0x4d (/tmp/c h (deleted))", "work", "/tmp/c h" },
		{ "work (/tmp/c h (deleted))", "work", "/tmp/c h" },
		{ "work+0x4d (/tmp/c (x)/c)", "work", "/tmp/c (x)/c" },
		{ "work (/tmp/c (x)/c)", "work", "/tmp/c (x)/c" },
		{ "work+0x4d (/tmp/a (b)", "work", "/tmp/a (b" },
		{ "work (/tmp/a)b)", "work", "/tmp/a)b" },
		{ "[unknown] (/tmp/a (b)", "a (b+0x55b6", "/tmp/a (b" },
		{ "F<void (int)>::f (int)+0x1 (/a b)", "F<void (int)>::f (int)", "/a b" },
		{ "F<void (int)>::f (int) (/a b)", "F<void (int)>::f (int)", "/a b" },
		{ "work+0x1 ( (deleted))", "work", " (deleted)" },
		{ "work+0x1 ()", "work", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int lone = 0; lone < 2; lone++) {
			char text[256], want[256];
			struct bytes bytes = { .s = text };
			AUTO(profile) r = NULL;

			bytes.n = (size_t)snprintf(text, sizeof(text),
						   "x 1 1.5: 1 cycles: %s     55b6 %s\n",
						   lone ? "" : "\n\t", cases[i][0]);
			snprintf(want, sizeof(want), "x;%s 1\n", cases[i][1]);
			r = read_back(&bytes);
			assert_non_null(r);
			is_folded(r, VIEW_ASYNC, want);
			assert_true(has_module(r, cases[i][2]));
			assert_int_equal(r->left_out, 0);
		}
	}
}

static void lines_of_perf_script_that_are_no_frames(void **state)
{
	char text[] =
		"PERF_RECORD_FINISHED_ROUND\n"
		"swapper  0   0.0: PERF_RECORD_MMAP -1/0: [0xff(0x12) @ 0xff]: x [k]_t\n"
		"c_g  8   3.1: PERF_RECORD_COMM exec: c_g:8/8\n"
		"c_g  8  53.8:    5025125 cpu-clock: \n"
		"\t   1144 work+0xb (/tmp/c_g)\n"
		"  c.c:4\n"
		"\t   1145 add\n"
		"  add c.c:4 (discriminator 3)\n"
		"\t   1146 main+0x5 (/tmp/c_g)\n"
		"  add+77\n"
		"\t   1147 start+0x5 (/tmp/c_g)\n"
		"  c_g (deleted)[27249]\n"
		"  add c.c:360 (discriminator 3) (inlined)\n"
		" insn: 01 c2\n"
		"|4\tx += i;\n"
		"c_g  8  53.9:    5025125 cpu-clock:     1144 work+0xb (/tmp/c_g)\n"
		"  c.c:4\n"
		"c_g  8  54.0: PERF_RECORD_SWITCH OUT preempt\n"
		"c_g  8  54.1:    5025125 cpu-clock: \n"
		"\tbadly work (/tmp/c_g)\n"
		"\t11441144114411441144 work (/tmp/c_g)\n"
		"\t   1147 start+0x5 (/tmp/c_g)\n"
		"\n";
	struct bytes bytes = { text, sizeof(text) - 1 };
	AUTO(profile) r = read_back(&bytes);

	assert_non_null(r);
	is_folded(r, VIEW_ASYNC,
		  "c_g;start 1\n"
		  "c_g;start;main;add;work 1\n"
		  "c_g;work 1\n");
	assert_int_equal(r->left_out, 2);
	assert_int_equal(r->timeline.first, 53);
}

/* perf's header is longer than 4 KiB. */
static void comments_may_come_first(void **state)
{
	static const char *const texts[] = {
		"# made by hand\n\n#\n# of 3\n#x\nmain;work 3\n# of 4; or so\n\n#x;y 4\n",
		"\r\n# of 3\r\nmain;work 3\r\n#x;y 4\r\n",
		"# ========\n#\n\nmain 1 2.5: cycles:\n\t1 work (/x)\n\n",
	};
	static const char *const want[] = {
		"#x;y 4\nmain;work 3\n",
		"#x;y 4\nmain;work 3\n",
		"main;work 1\n",
	};

	for (size_t i = 0; i < 6; i++) {
		static char text[20000];
		struct bytes bytes = { .s = text };
		size_t n = i % 2 ? 10000 : 0;
		AUTO(profile) r = NULL;

		for (size_t at = 0; at < n; at++)
			text[at] = at % 100 == 99 ? '\n' : '#';
		bytes.n = n + (size_t)snprintf(text + n, sizeof(text) - n, "%s",
					       texts[i / 2]);
		r = read_back(&bytes);
		assert_non_null(r);
		is_folded(r, VIEW_ASYNC, want[i / 2]);
		assert_int_equal(r->left_out, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_script_is_read),
		cmocka_unit_test(perf_script_without_callers_is_read),
		cmocka_unit_test(modules_of_perf_script_have_any_name),
		cmocka_unit_test(lines_of_perf_script_that_are_no_frames),
		cmocka_unit_test(comments_may_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
