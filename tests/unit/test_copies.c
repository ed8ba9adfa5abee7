// SPDX-License-Identifier: BSD-2-Clause
/* Which generated code is copied, how often, and how long ticks walk by a copy. */
#include "publish_world.h"

#include "publish/copies.h"
#include "shared/record.h"

#define P      1
#define LIB    100 /* copies have the inodes from 1 on */
#define LIB_AT 0x7f0000001000ULL
#define JIT    0x7f0010000000ULL
#define BYTES  0x10000ULL

#define CALLER(addr)   ((uint64_t)FRAME_CALLER << FRAME_KIND_SHIFT | (addr))
#define UNPROVEN(addr) ((uint64_t)FRAME_UNPROVEN << FRAME_KIND_SHIFT | (addr))

static void sample(enum ending ending, unsigned short flags, const uint64_t *words,
		   unsigned int n)
{
	union {
		struct sample_rec rec;
		uint64_t words[SAMPLE_HEADER_BYTES / 8 + 16];
	} of = { .rec = { .ts_ns = world.now_ns,
			  .tgid = P,
			  .tid = P,
			  .n_words = (unsigned short)n,
			  .n_thread = (unsigned short)n,
			  .ending = (unsigned char)ending,
			  .flags = flags } };

	memcpy(of.words + SAMPLE_HEADER_BYTES / 8, words, n * sizeof(*words));
	publisher_on_sample(world.publisher, &of.rec);
}

#define SAMPLE(ending, ...)                                                              \
	sample(END_##ending, 0, (const uint64_t[]){ __VA_ARGS__ },                       \
	       sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void begin(uint64_t bytes)
{
	world_begin();
	world_map(P, LIB, LIB_AT);
	world_map_bytes(P, 0, 0, JIT, bytes);
	world_pass(10 * MS);
}

/* Of a copy; ticks look at it from then on. */
static void answer(uint64_t ino)
{
	assert_true(world_answer(METADATA, ino, 0));
	assert_true(world_answer(TABLE, ino, 0));
	world_pass(0);
}

static bool walks_by_copy(uint64_t ino, uint64_t at)
{
	const struct unwind_mapping *mapping = world_mapping(P, at);

	return mapping && mapping->table && !mapping->bias &&
	       mapping->flags == UNWIND_COPIED &&
	       world.pages[mapping->table].head.text == ino;
}

static unsigned int n_copies(void)
{
	unsigned int n = 0;

	for (uint64_t ino = 1; ino < LIB; ino++)
		n += world.files[ino].n_opened;
	return n;
}

static void where_a_stack_is_lost(void **state)
{
	begin(BYTES);
	SAMPLE(BROKEN, LIB_AT, CALLER(JIT + 0x20));
	world_pass(0);
	assert_int_equal(world.files[1].n_opened, 1);
	assert_true(world_walks_by_fp(P, JIT)); /* until it is read */
	answer(1);
	assert_true(walks_by_copy(1, JIT));
	assert_true(walks_by_copy(1, JIT + BYTES - 1));
	world_check("copied");
	world_end();
}

/* Or went on by a frame pointer that was none. */
static void behind_what_is_unproven(void **state)
{
	begin(BYTES);
	SAMPLE(FP_ZERO, LIB_AT, CALLER(JIT + 0x20), UNPROVEN(LIB_AT), UNPROVEN(LIB_AT));
	world_pass(0);
	assert_int_equal(n_copies(), 1);
	world_end();
}

static void not_elsewhere(void **state)
{
	begin(BYTES);
	SAMPLE(START, LIB_AT, CALLER(JIT + 0x20));
	SAMPLE(AWAITED, JIT + 0x20);
	SAMPLE(BUDGET, JIT + 0x20);
	SAMPLE(BROKEN, JIT + 0x20, CALLER(LIB_AT));
	SAMPLE(BROKEN, LIB_AT);
	SAMPLE(BROKEN, JIT + 2 * BYTES);
	world_pass(0);
	assert_int_equal(n_copies(), 0);
	world_end();
}

/* Where a frame pointer led on that nothing proves. */
static void leave_by_fp(uint64_t at)
{
	const uint64_t words[] = { at, UNPROVEN(LIB_AT) };

	sample(END_START, SAMPLE_UNPROVEN, words, 2);
}

/* Then frame pointers are none in it, wherever they lead. */
static void of_a_program_that_is_lost(void **state)
{
	begin(BYTES);
	world_map_bytes(P, 0, 0, JIT + 2 * BYTES, BYTES);
	world_pass(10 * MS);
	leave_by_fp(JIT + 2 * BYTES);
	world_pass(100 * MS);
	assert_int_equal(n_copies(), 0);
	SAMPLE(BROKEN, JIT + 0x20);
	SAMPLE(BROKEN, JIT + 0x20);
	world_pass(100 * MS);
	SAMPLE(START, LIB_AT, CALLER(JIT + 2 * BYTES + 0x20)); /* that is whole */
	world_pass(100 * MS);
	assert_int_equal(n_copies(), 1);
	leave_by_fp(JIT + 2 * BYTES);
	world_pass(100 * MS);
	assert_int_equal(n_copies(), 2);
	world_end();
}

/* As V8's, of which a few are: its frame pointers are believed. */
static void of_a_program_that_is_hardly_lost(void **state)
{
	begin(BYTES);
	world_map_bytes(P, 0, 0, JIT + 2 * BYTES, BYTES);
	world_pass(10 * MS);
	for (int i = 0; i < 100; i++)
		leave_by_fp(JIT + 2 * BYTES);
	SAMPLE(BROKEN, JIT + 0x20);
	for (int i = 0; i < 100; i++) {
		leave_by_fp(JIT + 2 * BYTES);
		world_pass(100 * MS);
	}
	assert_int_equal(n_copies(), 1);
	world_end();
}

/* As Erlang's: where most lead on by frame pointer it is kept. */
static void where_a_few_are_lost(void **state)
{
	begin(BYTES);
	for (int i = 0; i < 10; i++) {
		leave_by_fp(JIT + 0x20);
		leave_by_fp(JIT + 0x20);
		SAMPLE(BROKEN, JIT + 0x20);
		world_pass(100 * MS);
	}
	assert_int_equal(n_copies(), 0);
	world_end();
}

static void begin_jvm(int err)
{
	world_begin();
	world.files[LIB].is_jvm = true;
	world.code_cache = (struct hotspot_heap){ .low = JIT, .high = JIT + BYTES };
	world.hotspot_err = err;
	world_map(P, LIB, LIB_AT);
	world_pass(10 * MS);
	world_answer(METADATA, LIB, 0);
	world_answer(TABLE, LIB, -ENOENT);
	world_map_bytes(P, 0, 0, JIT, BYTES);
	world_map_bytes(P, 0, 0, JIT + 2 * BYTES, BYTES);
	world_pass(0);
}

/* Its code cache says more of its own. What a library generates beside it never loses a
 * stack, if frame pointers lead on to Java. */
static void of_a_jvm_what_is_not_its_own(void **state)
{
	begin_jvm(0);
	SAMPLE(BROKEN, JIT + 0x20);
	leave_by_fp(JIT + BYTES - 1);
	world_pass(0);
	assert_int_equal(n_copies(), 0);
	leave_by_fp(JIT + 2 * BYTES);
	world_pass(0);
	answer(1);
	assert_true(walks_by_copy(1, JIT + 2 * BYTES));
	assert_false(walks_by_copy(1, JIT));
	world_end();
}

/* As long as nobody knows where its code is, all of it may be. */
static void not_of_a_jvm_that_starts(void **state)
{
	begin_jvm(-EAGAIN);
	SAMPLE(BROKEN, JIT + 0x20);
	SAMPLE(BROKEN, JIT + 2 * BYTES);
	world_pass(0);
	assert_int_equal(n_copies(), 0);
	world_end();
}

/* Other code may lie there then. */
static void until_it_is_mapped_anew(void **state)
{
	begin(BYTES);
	SAMPLE(BROKEN, JIT + 0x20);
	world_pass(0);
	answer(1);
	world_map_bytes(P, 0, 0, JIT, BYTES);
	world_pass(100 * MS);
	assert_true(world_walks_by_fp(P, JIT));
	SAMPLE(BROKEN, JIT + 0x20);
	world_pass(0);
	answer(2);
	assert_true(walks_by_copy(2, JIT));
	world_check("copied again");
	world_end();
}

static void what_cannot_be_read_goes_by_fp(void **state)
{
	begin(BYTES);
	SAMPLE(BROKEN, JIT + 0x20);
	world_pass(0);
	assert_true(world_answer(METADATA, 1, 0));
	assert_true(world_answer(TABLE, 1, -ENODATA));
	world_pass(0);
	assert_true(world_walks_by_fp(P, JIT));
	/* nor is it asked for with each sample */
	for (int i = 0; i < 100; i++) {
		SAMPLE(BROKEN, JIT + 0x20);
		world_pass(1 * MS);
	}
	assert_int_equal(n_copies(), 1);
	world_end();
}

static void of_much_a_part(void **state)
{
	const uint64_t at = JIT + 10 * COPY_PART_BYTES + 0x20;

	begin(64 * COPY_PART_BYTES);
	SAMPLE(BROKEN, at);
	world_pass(0);
	answer(1);
	assert_true(walks_by_copy(1, at));
	assert_true(walks_by_copy(1, JIT + 10 * COPY_PART_BYTES));
	assert_true(walks_by_copy(1, JIT + 11 * COPY_PART_BYTES - 1));
	assert_true(world_walks_by_fp(P, JIT + 10 * COPY_PART_BYTES - 1));
	assert_true(world_walks_by_fp(P, JIT + 11 * COPY_PART_BYTES));
	assert_true(world_walks_by_fp(P, JIT));
	world_check("a part");
	world_end();
}

/* What changes all the time is copied less and less often. */
static void less_and_less_often(void **state)
{
	unsigned int n = 0;

	begin(BYTES);
	for (int i = 0; i < 600; i++) {
		SAMPLE(TORN, JIT + 0x20);
		world_pass(0);
		if (n_copies() > n)
			answer(++n);
		world_pass(100 * MS);
	}
	assert_in_range(n, 20, 70);
	assert_int_equal(n, n_copies());
	world_check("changing");
	world_end();
}

static void a_child_has_its_parents(void **state)
{
	enum { CHILD = 2 };
	const struct unwind_mapping *mapping;

	begin(BYTES);
	SAMPLE(BROKEN, JIT + 0x20);
	world_pass(0);
	answer(1);
	world_pass(100 * MS);
	world_fork(P, CHILD);
	world_pass(0);
	mapping = world_mapping(CHILD, JIT);
	assert_non_null(mapping);
	assert_int_equal(mapping->flags, UNWIND_COPIED);
	world_exit(P);
	world_pass(3000 * MS);
	world_check("its parent has ended");
	assert_int_equal(world_mapping(CHILD, JIT)->flags, UNWIND_COPIED);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_stack_is_lost),
		cmocka_unit_test(behind_what_is_unproven),
		cmocka_unit_test(not_elsewhere),
		cmocka_unit_test(of_a_program_that_is_lost),
		cmocka_unit_test(of_a_program_that_is_hardly_lost),
		cmocka_unit_test(where_a_few_are_lost),
		cmocka_unit_test(of_a_jvm_what_is_not_its_own),
		cmocka_unit_test(not_of_a_jvm_that_starts),
		cmocka_unit_test(until_it_is_mapped_anew),
		cmocka_unit_test(what_cannot_be_read_goes_by_fp),
		cmocka_unit_test(of_much_a_part),
		cmocka_unit_test(less_and_less_often),
		cmocka_unit_test(a_child_has_its_parents),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
