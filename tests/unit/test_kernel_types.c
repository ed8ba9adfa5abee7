/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is copied of a kernel's types places each member where they do, and no damage to
 * them leads astray. tests/vm/insns asks of a real kernel's whether libbpf makes the same
 * programs with these as with all.
 */
#include "base/error.h"
#include "kern/kernel_types.h"

#include <string.h>

#include "elf_files.h" /* last: cmocka has a fail() of its own */

enum { INT = 1, POINTER, SHARED, OTHER, NESTED, TASK, BITS };

static struct btf *kernel, *local;

/* struct task { union { int a, b; }; void *p; typedef const struct nested n; int odd:3; }
 * and another struct that has the same union, of which it is `b` that is wanted. */
static int make_types(void **state)
{
	struct btf *k = kernel = btf__new_empty();

	assert_int_equal(btf__add_int(k, "int", 4, BTF_INT_SIGNED), INT);
	assert_int_equal(btf__add_ptr(k, 99), POINTER);
	assert_int_equal(btf__add_union(k, NULL, 4), SHARED);
	btf__add_field(k, "a", INT, 0, 0);
	btf__add_field(k, "b", INT, 0, 0);
	assert_int_equal(btf__add_struct(k, "other", 4), OTHER);
	btf__add_field(k, NULL, SHARED, 0, 0);
	assert_int_equal(btf__add_struct(k, "nested", 16), NESTED);
	btf__add_field(k, "x", INT, 32, 0);
	btf__add_field(k, "y", INT, 64, 0);
	assert_int_equal(btf__add_struct(k, "task", 64), TASK);
	btf__add_field(k, NULL, SHARED, 32, 0);
	btf__add_field(k, "p", POINTER, 128, 0);
	btf__add_field(k, "n", TASK + 1, 256, 0);
	btf__add_field(k, "odd", INT, 419, 3);
	btf__add_const(k, NESTED);

	local = btf__new_empty();
	btf__add_int(local, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(local, "task", 8);
	btf__add_field(local, "a", INT, 0, 0);
	btf__add_struct(local, "task___later", 8);
	btf__add_field(local, "n", INT, 0, 0);
	btf__add_field(local, "odd", INT, 32, 1);
	btf__add_struct(local, "nested", 8);
	btf__add_field(local, "y", INT, 0, 0);
	btf__add_struct(local, "other", 4);
	btf__add_field(local, "b", INT, 0, 0);
	btf__add_struct(local, "ours", 4);
	btf__add_field(local, "b", INT, 0, 0);
	return 0;
}

static int free_types(void **state)
{
	btf__free(kernel);
	btf__free(local);
	return 0;
}

/* The bit that a member begins at, in what has no name, too; -1: there is none. */
static int bit_of(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *m = btf_members(type) + i;
		int bit = (int)btf_member_bit_offset(type, i), within = -1;

		if (!strcmp(btf__name_by_offset(btf, m->name_off), name))
			return bit;
		if (!m->name_off)
			within = bit_of(btf, btf__type_by_id(btf, m->type), name);
		if (within >= 0)
			return bit + within;
	}
	return -1;
}

static const struct btf_type *struct_named(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return btf__type_by_id(btf, (uint32_t)id);
}

static struct kernel_types all_of_kernel(void)
{
	struct kernel_types from = { .local = local };
	uint32_t n;

	from.bytes = btf__raw_data(kernel, &n);
	from.n = n;
	return from;
}

static void test_members_lie_where_they_did(void **state)
{
	struct kernel_types from = all_of_kernel();
	const struct btf_type *task, *other;
	struct btf *picked;

	assert_int_equal(kernel_types_pick(&picked, &from), 0);
	task = struct_named(picked, "task");
	other = struct_named(picked, "other");
	assert_int_equal(task->size, 64);
	assert_int_equal(bit_of(picked, task, "a"), 32);
	assert_int_equal(bit_of(picked, task, "n"), 256);
	assert_int_equal(bit_of(picked, task, "odd"), 419);
	assert_int_equal(btf_member_bitfield_size(task, btf_vlen(task) - 1U), 3);
	assert_int_equal(bit_of(picked, struct_named(picked, "nested"), "y"), 64);
	/* who shares a union wants another member of it */
	assert_int_equal(bit_of(picked, task, "b"), -1);
	assert_int_equal(bit_of(picked, other, "b"), 0);
	/* nobody asked for these */
	assert_int_equal(bit_of(picked, task, "p"), -1);
	assert_true(btf__find_by_name_kind(picked, "ours", BTF_KIND_STRUCT) < 0);
	btf__free(picked);
}

static void test_damage_is_noticed_or_harmless(void **state)
{
	struct kernel_types from = all_of_kernel();
	unsigned char bytes[1024];
	struct btf *picked;

	assert_true(from.n <= sizeof(bytes));
	for (size_t i = 0; i < from.n * 8; i++) {
		/* in the sanitizer's sight: a block of its own */
		unsigned char *damaged = malloc(from.n);

		memcpy(damaged, from.bytes, from.n);
		damaged[i / 8] ^= (unsigned char)(1 << i % 8);
		if (!kernel_types_pick(&picked,
				       &(struct kernel_types){ damaged, from.n, local }))
			btf__free(picked);
		error_clear();
		free(damaged);
	}
	for (size_t n = 0; n < from.n; n++) {
		memcpy(bytes, from.bytes, n);
		assert_true(kernel_types_pick(&picked, &(struct kernel_types){
							       bytes, n, local }) < 0);
		error_clear();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_lie_where_they_did),
		cmocka_unit_test(test_damage_is_noticed_or_harmless),
	};

	return cmocka_run_group_tests(tests, make_types, free_types);
}
