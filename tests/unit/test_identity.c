/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose life it is that mappings belong to. A process may exec at any moment between
 * two questions: what is read then is nobody's.
 */
#include "base/error.h"
#include "base/vec.h"
#include "publish/identity.h"

#include "publish_world.h"

#define AT 0x7f0000001000ULL
#define P  1

static struct {
	unsigned int n_asked, n_looks;
	unsigned int
		exec_after; /* that many looks, of its stat or at a place; 0: never */
	uint64_t moved;	    /* the file at this address is not there any more */
	uint64_t looked[64];
	unsigned int n_all;
} asked;

static void maybe_exec(void)
{
	if (asked.exec_after && ++asked.n_all == asked.exec_after)
		world.procs[P].start_stack += 0x10000;
}

static int see(struct identity *ret)
{
	struct identity both[2];
	int err = world_identity(NULL, P, NULL, 0, both);

	*ret = both[0];
	maybe_exec();
	return err;
}

static int identity(struct opener *opener, pid_t tgid, const struct map_place *places,
		    unsigned int n, struct identity ret[2])
{
	bool has_moved = false;
	int err = see(&ret[0]);

	asked.n_asked++;
	for (unsigned int i = 0; i < n; i++) {
		asked.looked[asked.n_looks++] = places[i].addr;
		maybe_exec();
		has_moved |= places[i].addr == asked.moved;
	}
	if (has_moved)
		return (fail)(-ESTALE, "moved");
	return err ? err : see(&ret[1]);
}

static int read_identity(struct identity *ret)
{
	struct outside outside = world_outside;

	outside.identity = identity;
	return identity_read(&outside,
			     process_get(publisher_processes(world.publisher), P),
			     world.modules, publisher_files(world.publisher), ret);
}

/* Five files and generated code at both ends and between; the third has a key. */
static void begin(void)
{
	world_begin();
	memset(&asked, 0, sizeof(asked));
	world_map(P, 0, AT);
	for (uint64_t ino = 1; ino <= 5; ino++)
		world_map(P, ino, AT + ino * 0x10000);
	world_map(P, 0, AT + 0x28000);
	world_map(P, 0, AT + 0x90000);
	world.files[3].n_keys = 1;
	world_pass(0);
	for (uint64_t ino = 1; ino <= 5; ino++)
		world_answer(METADATA, ino, 0);
	world_pass(0);
}

static void both_ends_and_keys_are_looked_at(void **state)
{
	struct identity identity;

	begin();
	assert_int_equal(read_identity(&identity), 0);
	assert_int_equal(identity.start_ticks, world.procs[P].start_ticks);
	assert_int_equal(identity.start_stack, world.procs[P].start_stack);
	assert_int_equal(asked.n_looks, 3);
	assert_int_equal(asked.looked[0], AT + 0x10000);
	assert_int_equal(asked.looked[1], AT + 0x30000);
	assert_int_equal(asked.looked[2], AT + 0x50000);
	assert_int_equal(asked.n_asked, 1);
	world_end();
}

static void what_is_not_there_is_of_another(void **state)
{
	static const uint64_t moved[] = { 0x10000, 0x30000, 0x50000 };
	struct identity identity;

	for (size_t i = 0; i < 3; i++) {
		begin();
		asked.moved = AT + moved[i];
		assert_int_equal(read_identity(&identity), -ESRCH);
		error_clear();
		world_end();
	}
}

/* At whatever moment: never the old one's, and the new one's only from the start. */
static void an_exec_meanwhile(void **state)
{
	struct identity identity;

	for (unsigned int after = 1; after <= 4; after++) {
		begin();
		asked.exec_after = after;
		assert_int_equal(read_identity(&identity), -ESRCH);
		error_clear();
		world_end();
	}
}

static void errors_are_passed_on(void **state)
{
	struct identity identity;

	begin();
	world.procs[P].err = -EPERM;
	assert_int_equal(read_identity(&identity), -EPERM);
	error_clear();
	world_end();
}

/* More than one question can hold. */
static void many_files_with_keys(void **state)
{
	const uint64_t n = MAP_PLACES_MAX + 3;
	struct identity identity;

	world_begin();
	memset(&asked, 0, sizeof(asked));
	for (uint64_t ino = 1; ino <= n; ino++) {
		world_map(P, ino, AT + ino * 0x10000);
		world.files[ino].n_keys = 1;
	}
	for (uint64_t ino = 1; ino <= n; ino++) { /* some at a time are asked for */
		world_pass(0);
		for (uint64_t i = 1; i <= n; i++)
			(void)(world_answer(METADATA, i, 0) || world_answer(TABLE, i, 0));
	}
	world_pass(0);
	assert_int_equal(read_identity(&identity), 0);
	assert_int_equal(asked.n_looks, n);
	/* between two questions: all places were looked at, of two programs */
	asked.n_all = 0;
	asked.exec_after = 1 + MAP_PLACES_MAX + 1;
	assert_int_equal(read_identity(&identity), -ESRCH);
	error_clear();
	asked.exec_after = asked.n_looks = 0;
	asked.moved = AT + n * 0x10000; /* the last one */
	assert_int_equal(read_identity(&identity), -ESRCH);
	error_clear();
	world_end();
}

/* Generated code alone: there is no file to look for. */
static void without_files(void **state)
{
	struct identity identity;

	world_begin();
	memset(&asked, 0, sizeof(asked));
	world_map(P, 0, AT);
	world_pass(0);
	assert_int_equal(read_identity(&identity), 0);
	assert_int_equal(asked.n_looks, 0);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_and_keys_are_looked_at),
		cmocka_unit_test(what_is_not_there_is_of_another),
		cmocka_unit_test(an_exec_meanwhile),
		cmocka_unit_test(errors_are_passed_on),
		cmocka_unit_test(many_files_with_keys),
		cmocka_unit_test(without_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
