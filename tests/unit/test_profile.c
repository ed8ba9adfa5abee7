// SPDX-License-Identifier: BSD-2-Clause
/*
 * A profile that was made by hand (made.h), through files and back: what is in
 * the recording, a recording that ends at any byte, sums of many, filters, and
 * folded text of any kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "core/filter.h"
#include "core/merge.h"
#include "format/weft/weft_fields.h"
#include "format/reader.h"
#include "made.h"
#include "format/writer.h"
#include "read_back.h"

/* The view as it is counted on fingers in made.h, sorted as folded text is. */
#define MADE_ASYNC                                                                       \
	"other_one;[cut];jit_code_[j];inlined_[i] 5\n"                                   \
	"other_one;start;[missing frames];<b>\"quoted\":_7 1\n"                          \
	"service;on_read;--;hash_round 5\n"                                              \
	"service;on_read;--;hash_round;sys_read_[k] 4\n"
#define MADE_THREAD                                                                      \
	"other_one;[cut];jit_code_[j];inlined_[i] 5\n"                                   \
	"other_one;start;[missing frames];<b>\"quoted\":_7 1\n"                          \
	"service;main;run_loop;hash_round 5\n"                                           \
	"service;main;run_loop;hash_round;sys_read_[k] 4\n"

/* The ledger's count of that key; 0 where there is none. */
static uint64_t count_of(const struct profile *r, const char *key)
{
	for (size_t i = 0; i < r->ledger.n; i++)
		if (!strcmp(profile_string(r, r->ledger.items[i].key), key))
			return r->ledger.items[i].value;
	return 0;
}

static struct profile *made(const char *host)
{
	struct profile *r;

	assert_int_equal(made_profile(&r, host), 0);
	return r;
}

static void is_the_made_one(const struct profile *r)
{
	is_folded(r, VIEW_ASYNC, MADE_ASYNC);
	is_folded(r, VIEW_THREAD, MADE_THREAD);
	assert_int_equal(r->timeline.total, MADE_TOTAL);
	assert_int_equal(r->timeline.undated, 0);
	assert_int_equal(r->timeline.first, MADE_SECOND);
	assert_int_equal(r->timeline.last, MADE_SECOND + 2);
}

static void a_profile_is_written_in_both_views(void **state)
{
	AUTO(profile) r = made("alpha");

	is_the_made_one(r);
}

static uint64_t sum_of_second(const struct profile *r, uint32_t second)
{
	struct timeline_cursor at = { 0 };
	struct timeline_sample sample;
	uint64_t sum = 0;

	while (timeline_next(&r->timeline, &at, &sample))
		sum += sample.second == second ? sample.count : 0;
	return sum;
}

static void a_recording_keeps_everything(void **state)
{
	AUTO(profile) r = made("alpha");
	struct bytes bytes = written(&weft_writer, r, VIEW_ASYNC);
	AUTO(profile) back = read_back(&bytes);
	const struct profile_run *run;

	free(bytes.s);
	assert_non_null(back);
	is_the_made_one(back);
	assert_false(back->was_cut);
	assert_int_equal(sum_of_second(back, MADE_SECOND), 8);
	assert_int_equal(sum_of_second(back, MADE_SECOND + 1), 4);
	assert_int_equal(sum_of_second(back, MADE_SECOND + 2), 3);
	assert_int_equal(back->runs.n, 1);
	run = &back->runs.items[0];
	assert_string_equal(profile_string(back, run->host), "alpha");
	assert_string_equal(profile_string(back, run->kernel), "6.1.0");
	assert_int_equal(run->hz, 100);
	assert_int_equal(run->duration_ns, 3000000000);
	assert_int_equal(count_of(back, "oncpu.outcome.ring_full"), 5);
	assert_int_equal(back->period_ns, 10000000);
	assert_string_equal(profile_string(back, back->modules.items[1].build_id),
			    "0123456789abcdef");
	assert_int_equal(back->processes.items[1].pid, 100);
	assert_int_equal(back->threads.items[2].tid, 201);
}

/* Whatever is missing at the end: what comes before is read, and says so. */
static void a_recording_may_end_at_any_byte(void **state)
{
	AUTO(profile) r = made("alpha");
	struct bytes bytes = written(&weft_writer, r, VIEW_ASYNC);
	uint64_t before = 0, most = 0;

	for (size_t n = 1; n < bytes.n; n++) {
		struct bytes cut = { malloc(n), n };
		AUTO(profile) back = NULL;

		memcpy(cut.s, bytes.s, n); /* so that a byte too far is seen */
		back = read_back(&cut);
		free(cut.s);
		if (n < sizeof(WEFT_MAGIC_FIELD) - 1) {
			assert_null(back);
			error_clear();
			continue;
		}
		assert_non_null(back);
		assert_true(back->was_cut);
		assert_true(back->timeline.total >= before);
		before = back->timeline.total;
		most = before > most ? before : most;
	}
	assert_int_equal(most, MADE_TOTAL); /* the ledger comes last */
	free(bytes.s);
}

/* Any byte may be another: no profile that breaks its promises, no crash. */
static void a_recording_may_be_damaged_anywhere(void **state)
{
	AUTO(profile) r = made("alpha");
	struct bytes bytes = written(&weft_writer, r, VIEW_ASYNC);

	for (size_t i = sizeof(WEFT_MAGIC_FIELD); i < bytes.n; i++) {
		AUTO(profile) back = NULL;

		bytes.s[i] ^= 0x11;
		back = read_back(&bytes);
		error_clear();
		if (back) {
			assert_true(back->was_cut);
			assert_true(back->timeline.total <= MADE_TOTAL);
		}
		bytes.s[i] ^= 0x11;
	}
	free(bytes.s);
}

static struct profile *sum(const struct profile *a, const struct profile *b)
{
	struct profile *into;

	assert_int_equal(profile_new(&into), 0);
	assert_int_equal(profile_merge(into, a), 0);
	assert_int_equal(profile_merge(into, b), 0);
	assert_int_equal(profile_finish(into), 0);
	return into;
}

static void merging_is_associative(void **state)
{
	AUTO(profile) a = made("alpha");
	AUTO(profile) b = made("beta");
	AUTO(profile) c = made("gamma");
	AUTO(profile) ab = sum(a, b);
	AUTO(profile) bc = sum(b, c);
	AUTO(profile) left = sum(ab, c);
	AUTO(profile) right = sum(a, bc);
	struct bytes x = written(&weft_writer, left, VIEW_ASYNC);
	struct bytes y = written(&weft_writer, right, VIEW_ASYNC);

	assert_int_equal(left->timeline.total, 3 * MADE_TOTAL);
	assert_int_equal(right->timeline.total, 3 * MADE_TOTAL);
	assert_int_equal(left->runs.n, 3);
	assert_int_equal(left->processes.n, 1 + 3 * 2);
	assert_int_equal(count_of(right, "oncpu.entered"), 60);
	assert_int_equal(x.n, y.n);
	assert_memory_equal(x.s, y.s, x.n);
	free(x.s);
	free(y.s);
}

static uint64_t filtered(const char *one, const char *other, enum view view)
{
	AUTO(profile) r = made("alpha");
	struct filter filter = { 0 };
	AUTO_STR hint = { 0 };

	assert_int_equal(filter_add(&filter, one), 0);
	if (other)
		assert_int_equal(filter_add(&filter, other), 0);
	assert_int_equal(profile_filter(r, &filter, view, &hint), 0);
	return r->timeline.total;
}

static void filters_keep_what_they_say(void **state)
{
	assert_int_equal(filtered("comm=service", NULL, VIEW_ASYNC), 9);
	assert_int_equal(filtered("comm=serv*", "comm=oth*", VIEW_ASYNC), 15);
	assert_int_equal(filtered("pid=200", NULL, VIEW_ASYNC), 6);
	assert_int_equal(filtered("function=on_read", NULL, VIEW_ASYNC), 9);
	assert_int_equal(filtered("function=on_read", NULL, VIEW_THREAD), 0);
	assert_int_equal(filtered("function=sys_read", "comm=service", VIEW_THREAD), 4);
	assert_int_equal(filtered("module=service", NULL, VIEW_THREAD), 10);
	assert_int_equal(filtered("container=made.service", NULL, VIEW_THREAD), 15);
	assert_int_equal(filtered("time=1..2", NULL, VIEW_ASYNC), 4);
	assert_int_equal(filtered("time=1..", NULL, VIEW_ASYNC), 7);
	assert_int_equal(filtered("time=..1", "comm=service", VIEW_ASYNC), 3);
	assert_int_equal(filtered("host=beta", NULL, VIEW_ASYNC), 0);
}

static void kernel_frames_count_for_who_called(void **state)
{
	AUTO(profile) r = made("alpha");

	profile_drop_kernel(r);
	assert_int_equal(r->timeline.total, MADE_TOTAL);
	is_folded(r, VIEW_THREAD,
		  "other_one;[cut];jit_code_[j];inlined_[i] 5\n"
		  "other_one;start;[missing frames];<b>\"quoted\":_7 1\n"
		  "service;main;run_loop;hash_round 9\n");
}

static void a_filter_that_keeps_nothing_says_what_is_near(void **state)
{
	AUTO(profile) r = made("alpha");
	struct filter filter = { 0 };
	AUTO_STR hint = { 0 };

	assert_int_equal(filter_add(&filter, "function=hash_ruond"), 0);
	assert_int_equal(profile_filter(r, &filter, VIEW_ASYNC, &hint), 0);
	assert_int_equal(r->timeline.total, 0);
	assert_non_null(strstr(hint.s, "hash_round"));
	assert_int_equal(filter_add(&filter, "colour=red"), -EINVAL);
	assert_int_equal(filter_add(&filter, "time=3..1"), -EINVAL);
	assert_int_equal(filter_add(&filter, "comm="), -EINVAL);
}

/* Names of what folded text may hold, also what other writers would guard. */
static size_t random_lines(char *out, size_t room, unsigned int seed)
{
	static const char *const names[] = {
		"main",		"a b",	 "--",	  "[cut]",     "[missing frames]",
		"f(int, char)", "k_[k]", "j_[j]", "operator<", "\xc3\xa4",
		"x_[i]",	"_--",	 "0x12",  "std::f",
	};
	size_t n = 0;

	srandom(seed);
	for (int line = 0; line < 40; line++) {
		n += (size_t)snprintf(out + n, room - n, "t%ld", random() % 3);
		for (long frames = 1 + random() % 6; frames; frames--)
			n += (size_t)snprintf(out + n, room - n, ";%s",
					      names[random() % 14]);
		n += (size_t)snprintf(out + n, room - n, " %ld\n", 1 + random() % 99);
	}
	return n;
}

/* Once it is sorted and added up, it stays as it is, through a recording, too. */
static void folded_to_recording_to_folded_is_the_identity(void **state)
{
	for (unsigned int seed = 1; seed <= 200; seed++) {
		static char text[1 << 16];
		struct bytes any = { text, random_lines(text, sizeof(text), seed) };
		AUTO(profile) first = read_back(&any);
		struct bytes folded, recording, again;
		AUTO(profile) second = NULL;
		AUTO(profile) third = NULL;

		assert_non_null(first);
		folded = written(&folded_writer, first, VIEW_ASYNC);
		second = read_back(&folded);
		assert_non_null(second);
		assert_int_equal(second->timeline.total, first->timeline.total);
		recording = written(&weft_writer, second, VIEW_ASYNC);
		third = read_back(&recording);
		assert_non_null(third);
		again = written(&folded_writer, third, VIEW_THREAD);
		assert_string_equal(again.s, folded.s);
		free(folded.s);
		free(recording.s);
		free(again.s);
	}
}

static void pprof_is_read_as_it_was_written(void **state)
{
	AUTO(profile) r = made("alpha");

	for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++) {
		struct bytes bytes = written(&pprof_writer, r, (enum view)view);
		AUTO(profile) back = read_back(&bytes);

		free(bytes.s);
		assert_non_null(back);
		assert_int_equal(back->timeline.total, MADE_TOTAL);
		assert_int_equal(back->period_ns, 10000000);
		assert_int_equal(count_of(back, "oncpu.outcome.ring_full"), 5);
		back->one_view = false; /* threads' names are comms here */
		is_folded(back, VIEW_ASYNC,
			  view == VIEW_ASYNC ? MADE_ASYNC : MADE_THREAD);
	}
}

static void what_is_nothing_we_know_is_refused(void **state)
{
	static const char *const texts[] = {
		"\n",
		"hello",
		"{\"a\":1}",
		"PK\003\004",
		"\177ELF\002\001\001",
		"#!/bin/sh\nexit 0\n",
		"# a comment\n\n# of 3\n",
		"# a comment\nhello\n",
		"PERF_RECORD_FINISHED_ROUND\n",
		"wefttap\001",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct bytes bytes = { (char *)texts[i], strlen(texts[i]) };
		AUTO(profile) r = read_back(&bytes);

		assert_null(r);
		assert_true(*error_sentence());
		error_clear();
	}
}

static void a_recording_of_another_version_is_refused(void **state)
{
	static const struct {
		const char *text, *word;
	} cases[] = { { "\x0a\x11weft recording 3\n", "newer" },
		      { "\x0a\x11weft recording 1\n", "older" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = { (char *)cases[i].text, strlen(cases[i].text) };

		assert_null(read_back(&bytes));
		assert_non_null(strstr(error_sentence(), cases[i].word));
		error_clear();
	}
}

static void containers_are_told_by_their_cgroup(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "/", "" },
		{ "/system.slice/nginx.service", "nginx.service" },
		{ "/user.slice/user-1.slice/session-2.scope", "session-2.scope" },
		{ "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef"
		  "0123456789abcdef.scope",
		  "0123456789ab" },
		{ "/kubepods/besteffort/pod12/fedcba9876543210fedcba9876543210fedcba98765"
		  "43210fedcba9876543210",
		  "fedcba987654" },
		{ "/lxc.payload.web", "web" },
		{ "/lxc.payload.web/system.slice/nginx.service", "web" },
		{ "/lxc/db/init.scope", "db" },
		{ "/lxc.payload/db/system.slice", "db" },
		{ "/lxc.payload.outer/lxc.payload.inner/x", "inner" },
		{ "/lxc.payload.", "" },
		{ "/lxc.monitor.web", "" },
	};
	char out[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(profile_container(out, sizeof(out), cases[i][0]),
				    cases[i][1]);
}

/* Folded stacks of nothing. */
static void no_bytes_are_an_empty_profile(void **state)
{
	struct bytes none = { (char *)"", 0 };
	AUTO(profile) r = read_back(&none);

	assert_non_null(r);
	assert_int_equal(r->timeline.total, 0);
	assert_false(r->was_cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_is_written_in_both_views),
		cmocka_unit_test(a_recording_keeps_everything),
		cmocka_unit_test(a_recording_may_end_at_any_byte),
		cmocka_unit_test(a_recording_may_be_damaged_anywhere),
		cmocka_unit_test(merging_is_associative),
		cmocka_unit_test(filters_keep_what_they_say),
		cmocka_unit_test(kernel_frames_count_for_who_called),
		cmocka_unit_test(a_filter_that_keeps_nothing_says_what_is_near),
		cmocka_unit_test(folded_to_recording_to_folded_is_the_identity),
		cmocka_unit_test(pprof_is_read_as_it_was_written),
		cmocka_unit_test(what_is_nothing_we_know_is_refused),
		cmocka_unit_test(no_bytes_are_an_empty_profile),
		cmocka_unit_test(a_recording_of_another_version_is_refused),
		cmocka_unit_test(containers_are_told_by_their_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
