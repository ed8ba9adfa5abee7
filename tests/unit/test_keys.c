/* SPDX-License-Identifier: BSD-2-Clause */
/* Where keys and cookies lie in a process, by what its files say. */
#include "base/vec.h"
#include "publish/keys.h"

#include "publish_world.h"

#define AT	0x7f0000001000ULL
#define ALSO_AT 0x7f0000101000ULL
#define P	1

static const struct elf_segment text = { .offset = TEXT_PGOFF,
					 .vaddr = TEXT_VADDR,
					 .file_bytes = TEXT_BYTES,
					 .memory_bytes = TEXT_BYTES,
					 .flags = 5 };

static uint64_t key(uint64_t at, unsigned int i)
{
	return at + KEY_VADDR - TEXT_VADDR + 4 * i;
}

static struct key_count gather(struct process_info *what)
{
	const struct key_reader reader = { &world_outside,
					   publisher_files(world.publisher), NULL };

	*what = (struct process_info){ 0 };
	return keys_gather(&reader, process_get(publisher_processes(world.publisher), P),
			   what);
}

static void map_known(uint64_t ino, uint64_t at, uint32_t n_keys)
{
	world.files[ino].n_keys = n_keys;
	world_map(P, ino, at);
	world_pass(0);
	world_answer(METADATA, ino, 0);
	world_pass(0);
}

static void addresses(void **state)
{
	const struct elf_info info = { .n_segments = 1, .segments = { text } };
	const struct mapping map = { .start = AT,
				     .end = AT + 0x1000,
				     .pgoff = TEXT_PGOFF };
	struct mapping other = map;

	assert_int_equal(elf_address(&info, map.start, map.pgoff, KEY_VADDR), key(AT, 0));
	assert_int_equal(elf_address(&info, map.start, map.pgoff, 0), 0);
	other.pgoff = 0x800000; /* in no segment */
	assert_int_equal(elf_address(&info, other.start, other.pgoff, KEY_VADDR), 0);
}

static void of_all_files(void **state)
{
	struct process_info what;
	struct key_count n;

	world_begin();
	map_known(1, AT, 2);
	map_known(2, ALSO_AT, 1);
	world_map(P, 3, AT + 0x400000); /* of which nothing is known */
	world_pass(0);
	n = gather(&what);
	assert_int_equal(n.candidates, 3);
	assert_int_equal(what.key_addr[0], key(AT, 0));
	assert_int_equal(what.key_addr[1], key(AT, 1));
	assert_int_equal(what.key_addr[2], key(ALSO_AT, 0));
	assert_int_equal(what.key_addr[3], 0);
	assert_int_equal(world.n_peeks, 0); /* they fit */
	world_end();
}

/* A file whose code lies in two mappings has its keys once. */
static void a_key_counts_once(void **state)
{
	struct process_info what;

	world_begin();
	map_known(1, AT, 2);
	map_known(1, AT, 2); /* replaced by itself */
	assert_int_equal(gather(&what).candidates, 2);
	world_end();
}

static void set_ones_first_and_in_order(void **state)
{
	struct process_info what;
	struct key_count n;

	world_begin();
	map_known(1, AT, FILE_KEYS_MAX);
	world.set_keys[0] = key(AT, 15);
	world.set_keys[1] = key(AT, 3);
	n = gather(&what);
	assert_int_equal(n.candidates, FILE_KEYS_MAX);
	assert_int_equal(n.set, 2);
	assert_int_equal(what.key_addr[0], key(AT, 3));
	assert_int_equal(what.key_addr[1], key(AT, 15));
	assert_int_equal(what.key_addr[2], key(AT, 0));
	assert_int_equal(what.key_addr[KEYS_MAX - 1], key(AT, 6));
	world.is_hidden = true;
	n = gather(&what);
	assert_int_equal(n.set, 0);
	assert_int_equal(what.key_addr[0], key(AT, 0));
	world_end();
}

/* However many files say that they have keys. */
static void there_is_a_limit(void **state)
{
	struct process_info what;

	world_begin();
	for (uint64_t ino = 1; ino <= 8; ino++)
		map_known(ino, AT + ino * 0x100000, FILE_KEYS_MAX);
	assert_int_equal(gather(&what).candidates, CANDIDATES_MAX);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(of_all_files),
		cmocka_unit_test(a_key_counts_once),
		cmocka_unit_test(set_ones_first_and_in_order),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
