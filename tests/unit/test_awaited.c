/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample says wherever a walk of its ended for want of a table: at its end, before a
 * gap behind which it was taken up from a root, on a waiting thread's stack. */
#include "pipeline/pipeline.h"
#include "shared/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define WORD(kind, payload)                                                              \
	((unsigned long long)FRAME_##kind << FRAME_KIND_SHIFT | (payload))

struct reports {
	uint64_t addrs[8];
	size_t n;
};

static void on_awaited(void *arg, uint32_t tgid, uint64_t addr, uint64_t time_ns)
{
	struct reports *reports = arg;

	assert_int_equal(tgid, 42);
	assert_int_equal(time_ns, 1000);
	assert_true(reports->n < 8);
	reports->addrs[reports->n++] = addr;
}

static void hear(const unsigned long long *words, unsigned short n,
		 unsigned short n_thread, enum ending ending, struct reports *reports)
{
	const struct pipeline_sink sink = { .process.arg = reports,
					    .awaited = on_awaited };
	size_t bytes = sizeof(struct sample_rec) + n * sizeof(*words);
	struct sample_rec *rec = calloc(1, bytes);
	AUTO(pipeline) pipeline = NULL;
	struct event_sink input;

	assert_non_null(rec);
	*reports = (struct reports){ 0 };
	rec->ts_ns = 1000;
	rec->tgid = rec->tid = 42;
	rec->n_words = n;
	rec->n_thread = n_thread;
	rec->ending = ending;
	rec->flags = SAMPLE_AWAITED;
	memcpy(rec->words, words, n * sizeof(*words));
	assert_int_equal(pipeline_new(&pipeline, &sink), 0);
	input = pipeline_input(pipeline);
	assert_int_equal(input.sample(input.arg, rec, bytes), 0);
	assert_int_equal(pipeline_advance(pipeline, UINT64_MAX), 0);
	free(rec);
}

static void at_its_end(void **state)
{
	const unsigned long long words[] = { WORD(USER, 0x1000), WORD(CALLER, 0x2000) };
	struct reports reports;

	hear(words, 2, 2, END_AWAITED, &reports);
	assert_int_equal(reports.n, 1);
	assert_int_equal(reports.addrs[0], 0x1fff); /* in the call */
	hear(words, 1, 1, END_AWAITED, &reports);
	assert_int_equal(reports.n, 1);
	assert_int_equal(reports.addrs[0], 0x1000);
}

static void before_a_gap(void **state)
{
	const unsigned long long words[] = {
		WORD(USER, 0x1000), WORD(CALLER, 0x2000), WORD(GAP, END_AWAITED),
		WORD(ROOT, 0),	    WORD(CALLER, 0x3000), WORD(GAP, END_BROKEN),
		WORD(ROOT, 1),	    WORD(CALLER, 0x4000),
	};
	struct reports reports;

	hear(words, 8, 8, END_START, &reports);
	assert_int_equal(reports.n, 1);
	assert_int_equal(reports.addrs[0], 0x1fff);
}

static void on_a_waiting_stack(void **state)
{
	const unsigned long long words[] = {
		WORD(USER, 0x1000),   WORD(ROOT, 0),
		WORD(CALLER, 0x2000), SEGMENT_WORD(SEGMENT_CHAIN, END_CROSSED, 0, 0, 1),
		WORD(ASYNC, 0x5000),  SEGMENT_WORD(SEGMENT_THREAD, END_AWAITED, 0, 0, 2),
		WORD(CALLER, 0x6000), WORD(CALLER, 0x7000),
	};
	struct reports reports;

	hear(words, 8, 3, END_START, &reports);
	assert_int_equal(reports.n, 1);
	assert_int_equal(reports.addrs[0], 0x6fff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_its_end),
		cmocka_unit_test(before_a_gap),
		cmocka_unit_test(on_a_waiting_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
