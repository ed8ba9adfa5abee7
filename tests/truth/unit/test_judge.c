/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the ground truth's judge see what is wrong? It is fed with profiles made
 * by hand, most of them false in one way.
 */
#include "json.h"
#include "judge.h"
#include "ledger.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

static const struct truth_case threaded = {
	.name = "threaded",
	.program = "prog",
	.thread = { { "main;deep*3;heavy|light" }, { "main;idle" } },
	.shares = { { "heavy", .75, "heavy|light" } },
	.bounds = { { CLASS_FP_LEAF, .1 } },
};

static const struct truth_case both = {
	.name = "both",
	.program = "prog",
	.thread = { { "main;deep;heavy|light" }, { "main;idle" } },
	.seen = "heavy|idle",
};

static const struct truth_case spliced = {
	.name = "spliced",
	.program = "prog",
	.thread = { { "main;loop;step;leaf" } },
	.async = { { "^hop_{08..10};--;step;leaf" },
		   { "^hop_{08..10};--;loop" },
		   { "^hop_07;--;loop" },
		   { "main;--*0-1;asks;--;step;leaf" } },
};

/* Sentences about a folded text; the first is in said. */
static size_t judge_text(const struct truth_case *of, enum view view, const char *text,
			 struct finding *ret, char said[256])
{
	char path[] = "/tmp/weft-judge-XXXXXX";
	AUTO_STR wrong = { 0 };
	struct folded folded;
	struct judge judge;
	size_t n = 0;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(folded_read(&folded, path), 0);
	unlink(path);
	assert_int_equal(judge_open(&judge, of), 0);
	judge.by_table = of->tabled;
	judge_view(&judge, view, &folded, ret, &wrong);
	judge_close(&judge);
	folded_free(&folded);
	for (size_t i = 0; i < wrong.n; i++)
		n += wrong.s[i] == '\n';
	snprintf(said, 256, "%s", wrong.n ? wrong.s : "");
	return n;
}

static void expect_true(const struct truth_case *of, enum view view, const char *text)
{
	struct finding finding;
	char said[256];

	if (judge_text(of, view, text, &finding, said))
		fail_msg("%s", said);
}

static void expect_wrong(const struct truth_case *of, enum view view, const char *text,
			 const char *what)
{
	struct finding finding;
	char said[256];

	assert_int_not_equal(judge_text(of, view, text, &finding, said), 0);
	if (!strstr(said, what))
		fail_msg("%s instead of %s", said, what);
}

#define GOOD                                                                             \
	"prog;_start;main;deep;deep;deep;heavy 750\n"                                    \
	"prog;[cut];libc.so.6+0x12;main;deep;deep;deep;light;tick_[k] 250\n"

#define ARGUMENTS(from, n)                                                               \
	"prog;" from ";main;loop;step;leaf 1000\n"                                       \
	"prog;" from ";main;__strcmp_evex;asm_exc_page_fault_[k] " #n "\n"

static void test_thread(void **state)
{
	expect_true(&threaded, VIEW_THREAD, GOOD);
	expect_true(&threaded, VIEW_THREAD, GOOD "prog;_start;main;deep;deep 1\n");
	expect_true(&threaded, VIEW_THREAD, GOOD "weft;_start 1\nprog;x_[k] 1\n");
	expect_true(&threaded, VIEW_THREAD,
		    GOOD "prft;exec_[k];__set_task_comm_[k];memcpy_[k] 1\n");
	expect_true(&threaded, VIEW_THREAD, GOOD "prog;_start;main;deep;deep;light 1\n");
	expect_true(&threaded, VIEW_THREAD, GOOD "prog;[cut];deep;deep;light 1\n");
	expect_true(&threaded, VIEW_THREAD, GOOD "prog;main;deep;memcpy 1\n");
	/* main() reads its arguments */
	expect_true(&spliced, VIEW_THREAD, ARGUMENTS("_start;__libc_start_main", 40));
	expect_wrong(&spliced, VIEW_THREAD, ARGUMENTS("_start;__libc_start_main", 200),
		     "start-up");
	expect_wrong(&spliced, VIEW_THREAD, ARGUMENTS("_start;elsewhere", 40), "fp-libc");
}

static void test_seen(void **state)
{
	expect_true(&both, VIEW_THREAD, "prog;main;deep;heavy 1\nprog;main;idle 1\n");
	expect_wrong(&both, VIEW_THREAD, "prog;main;deep;light 1\nprog;main;idle 1\n",
		     "no sample has heavy");
	expect_wrong(&both, VIEW_THREAD, "prog;main;deep;heavy 1\n",
		     "no sample has idle");
}

static void test_false_thread(void **state)
{
	static const char *const stacks[] = {
		"prft;exec_[k];memcpy_[k] 1\n",		   /* a name that nobody has */
		"prog;main;deep;deep;deep;deep;heavy 1\n", /* once too often */
		"prog;main;deep;heavy 1\n",		   /* twice missing */
		"prog;deep;deep;deep;heavy 1\n",	   /* no main, and not cut */
		"prog;main;main;idle 1\n",		   /* twice */
		"prog;main;other;idle 1\n",		   /* a stranger between */
		"prog;idle;main 1\n",			   /* upside down */
		"prog;heavy 1\n",			   /* alone */
		"prog;main;--;idle 1\n",		   /* async from nowhere */
		"evil;main;idle 1\n",			   /* another process */
		"evil;foo 1\n",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		snprintf(text, sizeof(text), "%s%s", GOOD, stacks[i]);
		expect_wrong(&threaded, VIEW_THREAD, text, "never existed");
	}
}

/* The application's own rules, as the suite uses them. */
#define APP_START "app;_start;__libc_start_main;__libc_start_call_main;main;play;--;"
#define SECOND	  "app;clone3;start_thread;second_thread;play;--;"

static const struct truth_case *app(void)
{
	return &cases_app.cases[0];
}

/* n of the recursion's callers, in their order, before the rest. */
static const char *recursion(char text[16384], int n, const char *rest)
{
	static const char *const names[] = { "deep_a", "deep_b", "deep_c" };
	size_t at = sprintf(text, APP_START "scene_deep;wait_on");

	for (int i = 0; i < n; i++)
		at += sprintf(text + at, ";%s.actor", names[i % 3]);
	sprintf(text + at, ";--;%s 1\n", rest);
	return text;
}

static void test_app(void **state)
{
	static const char *const stacks[] = {
		APP_START
		"scene_calls;wait_here;serve.actor;--;read_body.actor;body_work 1\n",
		SECOND "scene_threads;wait_on;--;level_1.resume;wait_on;--;"
		       "level_2.resume;wait_on;--;level_3.resume;third_work 1\n",
		/* the next is begun, and who begins it is still there */
		APP_START
		"scene_calls;wait_here;serve.actor;--;serve.actor;call_task 1\n",
		APP_START
		"scene_calls;wait_here;serve.actor;--;read_body.actor;memcpy 1\n",
	};
	char text[16384];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		/* beside enough of what is exact */
		snprintf(text, sizeof(text),
			 "%s" APP_START
			 "scene_nested;wait_here;--;nest_01.actor;nest_work 1000\n",
			 stacks[i]);
		expect_true(app(), VIEW_ASYNC, text);
	}
	expect_true(app(), VIEW_ASYNC, recursion(text, 300, "deep_a.actor;deep_end"));
	expect_true(app(), VIEW_ASYNC, recursion(text, 100, "deep_b.actor;deep_c"));
}

static void test_false_app(void **state)
{
	static const char *const stacks[] = {
		/* a caller too few, another's, one too many, none at all */
		APP_START "scene_calls;wait_here;--;read_body.actor;body_work 1\n",
		APP_START
		"scene_calls;wait_here;serve.actor;--;read_byte.actor;byte_work 1\n",
		APP_START "scene_calls;wait_here;serve.actor;serve.actor;--;"
			  "read_body.actor;body_work 1\n",
		"app;--;read_body.actor;body_work 1\n",
		/* of another scene, another thread, another executor */
		APP_START
		"scene_deep;wait_here;serve.actor;--;read_body.actor;body_work 1\n",
		SECOND "scene_threads;wait_on;--;level_2.actor;second_work 1\n",
		APP_START "scene_any;wait_on;race.actor;collect_all.actor;--;"
			  "swift.actor;swift_work 1\n",
		"app;clone3;start_thread;pool_b_thread;pool_loop;run_double;double_work "
		"1\n",
		/* it burns while nobody runs */
		"app;clone3;start_thread;pool_a_thread;pool_loop;run_resume;"
		"resume_with_root;fetch.actor;fetch_after 5\n",
		/* a call that the exception's thrower does not make */
		APP_START
		"scene_calls;wait_here;serve.actor;read_body.actor;decode.actor;"
		"--;inflate.actor;inflate.actor;_Unwind_RaiseException 1\n",
	};
	char text[16384];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		expect_wrong(app(), VIEW_ASYNC, stacks[i],
			     i == 8 ? "unspliced" : "never existed");
	for (int n = 297; n < 304; n++)
		if (n != 300)
			expect_wrong(app(), VIEW_ASYNC,
				     recursion(text, n, "deep_a.actor;deep_end"),
				     "never existed");
	expect_wrong(app(), VIEW_ASYNC, recursion(text, 101, "deep_b.actor;deep_c"),
		     "never existed");
}

static void test_numbers(void **state)
{
	expect_wrong(&threaded, VIEW_THREAD,
		     "prog;main;deep;deep;deep;heavy 690\n"
		     "prog;main;deep;deep;deep;light 310\n",
		     "share of heavy");
	expect_wrong(&threaded, VIEW_THREAD, GOOD "prog;main;deep;deep;light 150\n",
		     "fp-prologue");
	expect_wrong(&threaded, VIEW_THREAD, GOOD "prog;_dl_start 200\n", "start-up");
	expect_wrong(&threaded, VIEW_THREAD, GOOD "prog;[cut];deep;light 20\n", "cut");
}

/* A machine that stood still shows no sample of what should have run then. */
static void test_a_part_is_not_there(void **state)
{
	struct finding finding;
	char said[256];

	judge_text(&threaded, VIEW_THREAD, GOOD, &finding, said);
	assert_false(finding.lacks_part);
	assert_int_not_equal(
		judge_text(&threaded, VIEW_THREAD, "prog;_dl_start 9\n", &finding, said),
		0);
	assert_true(finding.lacks_part);
}

#define CHAIN "prog;hop_08;hop_09;hop_10;--;step;leaf 1000\n"

static void test_async(void **state)
{
	expect_true(&spliced, VIEW_ASYNC, CHAIN);
	expect_true(&spliced, VIEW_ASYNC, CHAIN "prog;hop_08;hop_09;hop_10;--;loop 1\n");
	expect_true(&spliced, VIEW_ASYNC, CHAIN "prog;hop_08;hop_09;hop_10;--;leaf 1\n");
	expect_true(&spliced, VIEW_ASYNC, CHAIN "prog;_start;main;loop;step;leaf 9\n");
	expect_true(&spliced, VIEW_ASYNC, CHAIN "prog;x;main;--;asks;--;step;leaf 9\n");
	expect_true(&spliced, VIEW_ASYNC, CHAIN "prog;x;main;asks;--;weft_helper 9\n");
}

static void test_false_async(void **state)
{
	static const char *const stacks[] = {
		"prog;hop_08;hop_10;--;step;leaf 1\n",		     /* one left out */
		"prog;hop_08;hop_09;hop_10;hop_10;--;step;leaf 1\n", /* one doubled */
		"prog;hop_08;hop_09;hop_10;step;leaf 1\n",	     /* no seam */
		"prog;hop_08;hop_09;hop_10;--;--;step;leaf 1\n",     /* two */
		"prog;hop_08;hop_09;hop_10 1\n",		     /* nothing runs */
		"prog;hop_08;hop_09;hop_10;-- 1\n",
		"prog;_start;hop_08;hop_09;hop_10;--;step;leaf 1\n", /* of no thread */
		"prog;main;loop;hop_08;hop_09;hop_10;--;step 1\n",
		"prog;hop_08;hop_09;hop_10;--;main;loop;step 1\n",
		"prog;hop_08;hop_09;hop_10;--;loop;step;leaf 1\n", /* the dispatcher */
	};
	char text[512];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		snprintf(text, sizeof(text), "%s%s", CHAIN, stacks[i]);
		expect_wrong(&spliced, VIEW_ASYNC, text, "never existed");
	}
	expect_wrong(&spliced, VIEW_ASYNC, CHAIN "prog;main;loop;step;leaf 600\n",
		     "unspliced");
	expect_wrong(&spliced, VIEW_ASYNC,
		     CHAIN "prog;hop_08;hop_09;hop_10;--;[missing frames];leaf 1\n",
		     "gap");
	expect_wrong(&spliced, VIEW_ASYNC,
		     CHAIN "prog;hop_07;--;[missing frames];weft_label_x 1\n", "gap");
}

#define TICKS(missed, stolen)                                                            \
	"\"expected_ticks\":100,\"missed_ticks_estimate\":" missed                       \
	",\"stolen_ticks_estimate\":" stolen
#define LEDGER_OF(ticks, entered, kept, total)                                           \
	"{\"version\": 2, " ticks ", \"ledger\":{\"oncpu\":{\"entered\":" entered        \
	", \"outcomes\":{\"idle\":1,\"filtered\":2,\"kept\":" kept                       \
	",\"no_scratch\":0,\"no_ring\":0,\"ring_full\":0}, \"endings\": {\"start\":6,"   \
	"\"torn\":0,\"cycle\":0,\"foreign\":0,\"broken\":4}, \"words\":\"a}\\\"{\"}},"   \
	"\"samples\":{\"total\":" total                                                  \
	",\"unmatched\":0,\"awaited\":0,\"list\":[1,{\"x\":2}]}}"
#define LEDGER(entered, kept, total) LEDGER_OF(TICKS("10", "0"), entered, kept, total)

static size_t ledger_length(const char *stats)
{
	unsigned long long shown[] = { 10, 10 };
	AUTO_STR wrong = { 0 };

	ledger_check(stats, shown, 2, 0, &wrong);
	ledger_check_missed(stats, &wrong);
	return wrong.n;
}

static void test_ledger(void **state)
{
	unsigned long long n;

	assert_int_equal(ledger_length(LEDGER("13", "10", "10")), 0);
	assert_int_not_equal(ledger_length(LEDGER("14", "10", "10")), 0);
	assert_int_not_equal(ledger_length(LEDGER("14", "11", "11")), 0);
	assert_int_not_equal(ledger_length(LEDGER("13", "10", "9")), 0);
	assert_int_not_equal(ledger_length(LEDGER_OF(TICKS("30", "0"), "13", "10", "10")),
			     0);
	assert_int_equal(ledger_length(LEDGER_OF(TICKS("30", "20"), "13", "10", "10")),
			 0);
	assert_int_not_equal(ledger_length("{\"ledger\":{}}"), 0);
	assert_int_not_equal(ledger_length("{\"ledger\""), 0);
	assert_int_not_equal(ledger_length(""), 0);
	assert_int_equal(json_number(LEDGER("13", "10", "7"), "samples.total", &n), 0);
	assert_int_equal(n, 7);
	assert_int_equal(json_number("{\"a\":1", "a", &n), -EINVAL);
	assert_int_equal(json_number("{\"a\":\"1\"}", "a", &n), -ENOENT);
	assert_int_equal(json_number("{\"a\":{\"b\":1}}", "a.c", &n), -ENOENT);
}

/* Each way that leads nowhere is tried once: there are more of them than seconds. */
static void test_many_ways(void **state)
{
	const char *frames[61];
	struct path path = { 0 };

	for (size_t i = 0; i < 60; i++)
		frames[i] = "a";
	frames[60] = "x";
	assert_int_equal(path_parse(&path, "a*0-30;a*0-30;a*0-30;a*0-30;a*0-30;a*0-30;"
					   "a*0-30;a*0-30;a*0-30;a*0-30;z"),
			 0);
	assert_false(path_fits(&path, frames, 61));
	assert_true(path_fits(&path, frames, 60));
	assert_false(path_fits_cut(&path, frames, 61));
	path_free(&path);
}

static void test_paths(void **state)
{
	static const char *const bad[] = { "a*x",    "a{1..", "a{3..1}",
					   "a{1-3}", "(a;b",  "(a;b)" };
	struct path path;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(path_parse(&path, bad[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_false_thread),
		cmocka_unit_test(test_app),
		cmocka_unit_test(test_false_app),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_async),
		cmocka_unit_test(test_false_async),
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_many_ways),
		cmocka_unit_test(test_a_part_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
