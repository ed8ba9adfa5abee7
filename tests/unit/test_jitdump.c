// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names out of the dumps of JITs: by time, moved code, damaged files; and against a model
 * that tries every record for every question.
 */
#include "named.h"

#include "base/str.h"
#include "obj/jitdump.h"

#include <errno.h>

enum { LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3 };

static void put32(struct str *out, uint32_t n)
{
	str_add_bytes(out, &n, sizeof(n));
}

static void put64(struct str *out, uint64_t n)
{
	str_add_bytes(out, &n, sizeof(n));
}

static void put_head(struct str *out, uint64_t flags)
{
	put32(out, 0x4A695444);
	put32(out, 1);
	put32(out, 40);
	put32(out, 62);
	put64(out, 1ULL << 32); /* padding, pid */
	put64(out, 0);
	put64(out, flags);
}

static void put_record(struct str *out, uint32_t id, uint32_t bytes, uint64_t time)
{
	put32(out, id);
	put32(out, 16 + bytes);
	put64(out, time);
}

static void put_load(struct str *out, uint64_t time, uint64_t start, uint64_t bytes,
		     const char *name)
{
	size_t n = strlen(name) + 1;

	put_record(out, LOAD, (uint32_t)(40 + n + bytes), time);
	put64(out, 1);
	put64(out, start);
	put64(out, start);
	put64(out, bytes);
	put64(out, start + time); /* the code's number */
	str_add_bytes(out, name, n);
	for (uint64_t i = 0; i < bytes; i++)
		str_add_char(out, (char)0x90);
}

static void put_move(struct str *out, uint64_t time, uint64_t from, uint64_t to,
		     uint64_t number)
{
	put_record(out, MOVE, 48, time);
	put64(out, 1);
	put64(out, from);
	put64(out, from);
	put64(out, to);
	put64(out, 16);
	put64(out, number);
}

/* The name of what was sampled there from `first` to `last`. */
static void check(const struct str *dump, uint64_t addr, uint64_t first, uint64_t last,
		  const char *want)
{
	const uint64_t question[JITDUMP_QUESTION_WORDS] = { addr, first, last };
	int fd = bytes_fd(dump->s, dump->n);
	struct named *named =
		named_by(jitdump_names, fd, question, JITDUMP_QUESTION_WORDS);

	assert_string_equal(named->items[0].name, want);
	free(named);
	close(fd);
}

static void by_time(void **state)
{
	AUTO_STR dump = { 0 };

	put_head(&dump, 0);
	put_load(&dump, 10, 0x1000, 0x100, "one");
	put_record(&dump, DEBUG_INFO, 24, 15);
	str_add_bytes(&dump, "123456781234567812345678", 24);
	put_load(&dump, 20, 0x1080, 0x10, "two");
	put_load(&dump, 30, 0x1000, 0x10, "_ZN3Foo3barEv");
	check(&dump, 0x1000, 9, 9, "");
	check(&dump, 0x1000, 9, 10, ""); /* nothing, and then one */
	check(&dump, 0x1000, 10, 29, "one");
	check(&dump, 0x1000, 10, 30, "");
	check(&dump, 0x1000, 30, UINT64_MAX, "Foo::bar");
	check(&dump, 0x1010, 10, UINT64_MAX, "one");
	check(&dump, 0x1080, 19, 19, "one");
	check(&dump, 0x1080, 19, 20, "");
	check(&dump, 0x108f, 20, 90, "two");
	check(&dump, 0x1090, 20, 90, "one");
	check(&dump, 0x1100, 20, 90, "");
	check(&dump, 0xfff, 20, 90, "");
}

static void moved(void **state)
{
	AUTO_STR dump = { 0 };

	put_head(&dump, 0);
	put_load(&dump, 10, 0x1000, 16, "one");
	put_load(&dump, 11, 0x2000, 16, "other");
	put_move(&dump, 20, 0x1000, 0x3000, 0x1000 + 10);
	put_record(&dump, CLOSE, 0, 30);
	put_load(&dump, 31, 0x4000, 16, "after the end");
	check(&dump, 0x1000, 10, 19, "one");
	check(&dump, 0x1000, 20, 25, "");
	check(&dump, 0x1000, 10, 25, "");
	check(&dump, 0x3000, 10, 19, "");
	check(&dump, 0x3008, 20, 25, "one");
	check(&dump, 0x2008, 20, 25, "other");
	check(&dump, 0x4008, 40, 45, "");
}

/* What a JIT is writing at this moment, and what no JIT writes. */
static void damaged(void **state)
{
	const uint64_t question[JITDUMP_QUESTION_WORDS] = { 0x1000, 50, 60 };
	AUTO_STR dump = { 0 };
	int fd;

	put_head(&dump, 0);
	put_load(&dump, 10, 0x1000, 16, "one");
	put_load(&dump, 20, 0x1000, 16, "two");
	dump.n--;
	check(&dump, 0x1000, 50, 60, "one");
	dump.n -= 60;
	check(&dump, 0x1000, 50, 60, "one");
	put_record(&dump, LOAD, 0, 30);
	check(&dump, 0x1000, 50, 60, "one");

	str_clear(&dump);
	put_head(&dump, 0);
	put_load(&dump, 10, 0x1000, 16, "one");
	put_record(&dump, LOAD, UINT32_MAX - 16, 30);
	check(&dump, 0x1000, 50, 60, "one");

	str_clear(&dump);
	put_head(&dump, 0);
	put_load(&dump, 10, 0x1000, 16, "one");
	put_record(&dump, LOAD, 41, 20); /* more code than the record has */
	put64(&dump, 1);
	put64(&dump, 0x1000);
	put64(&dump, 0x1000);
	put64(&dump, UINT64_MAX - 0x1000);
	put64(&dump, 1);
	str_add_char(&dump, '\0');
	put_load(&dump, 30, 0x2000, 16, "two");
	check(&dump, 0x1000, 50, 60, "one");
	check(&dump, 0x2000, 50, 60, "two");

	str_clear(&dump);
	put_head(&dump, 1);
	fd = bytes_fd(dump.s, dump.n);
	assert_int_equal(jitdump_names(fd, question, 3, named_sink, NULL), -ENOTSUP);
	assert_int_equal(jitdump_names(-1, question, 3, named_sink, NULL), -EBADF);
	close(fd);
	fd = bytes_fd("JiTD", 4);
	assert_int_equal(jitdump_names(fd, question, 3, named_sink, NULL), -EBADMSG);
	close(fd);
}

#define N_RECORDS   300
#define N_QUESTIONS 1000

struct laid {
	uint64_t time, start, bytes;
};

static const struct laid *lying(const struct laid *laid, uint64_t addr, uint64_t first,
				uint64_t last)
{
	const struct laid *found = NULL;

	for (size_t i = 0; i < N_RECORDS; i++) {
		if (addr < laid[i].start || addr >= laid[i].start + laid[i].bytes)
			continue;
		if (laid[i].time > first && laid[i].time <= last)
			return NULL;
		if (laid[i].time <= first && (!found || laid[i].time >= found->time))
			found = &laid[i];
	}
	return found;
}

/* Threads write with their times out of order; all at a few places. */
static void against_a_model(void **state)
{
	static uint64_t words[N_QUESTIONS * JITDUMP_QUESTION_WORDS];
	struct laid laid[N_RECORDS];
	AUTO_STR dump = { 0 };
	struct named *named;
	size_t n_named = 0;
	int fd;

	srand(7);
	put_head(&dump, 0);
	for (size_t i = 0; i < N_RECORDS; i++) {
		char name[32];

		laid[i] = (struct laid){ 1 + 10 * i + (uint64_t)(rand() % 40),
					 0x1000 + (uint64_t)(rand() % 256),
					 1 + (uint64_t)(rand() % 64) };
		snprintf(name, sizeof(name), "code%zu", i);
		put_load(&dump, laid[i].time, laid[i].start, laid[i].bytes, name);
	}
	for (size_t i = 0; i < N_QUESTIONS; i++) {
		uint64_t *q = words + JITDUMP_QUESTION_WORDS * i;

		q[0] = 0x1000 + (uint64_t)(rand() % 300);
		q[1] = (uint64_t)(rand() % (10 * N_RECORDS + 50));
		q[2] = q[1] + (uint64_t)(rand() % 200);
	}
	fd = bytes_fd(dump.s, dump.n);
	named = named_by(jitdump_names, fd, words, N_QUESTIONS * JITDUMP_QUESTION_WORDS);
	for (size_t i = 0; i < N_QUESTIONS; i++) {
		const uint64_t *q = words + JITDUMP_QUESTION_WORDS * i;
		const struct laid *want = lying(laid, q[0], q[1], q[2]);
		char name[32] = "";

		if (want)
			snprintf(name, sizeof(name), "code%td", want - laid);
		assert_string_equal(named->items[JITDUMP_QUESTION_WORDS * i].name, name);
		n_named += want != NULL;
	}
	assert_in_range(n_named, N_QUESTIONS / 4, N_QUESTIONS - N_QUESTIONS / 10);
	free(named);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time),
		cmocka_unit_test(moved),
		cmocka_unit_test(damaged),
		cmocka_unit_test(against_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
