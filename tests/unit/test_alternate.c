// SPDX-License-Identifier: BSD-2-Clause
/* Which file of dwz a debug file says that it needs, and whether a file is that one. */
#include "obj/elf_links.h"
#include "obj/names.h"

#include "named.h" /* last: cmocka has a fail() of its own */

static int setup(void **state)
{
	static const char source[] = "int one(int n) { return n * 3; }\n";

	if (files_setup(state))
		return -1;
	write_file("s.c", source, strlen(source));
	return shell("gcc -shared -fPIC -Wl,--build-id=none s.c -o one.so");
}

struct alternate {
	char name[256], id[2 * 20 + 1];
};

static int on_alternate(void *arg, size_t index, const char *name, uint64_t start)
{
	struct alternate *alternate = arg;

	assert_in_range(index, 0, 1);
	snprintf(index ? alternate->id : alternate->name,
		 index ? sizeof(alternate->id) : sizeof(alternate->name), "%s", name);
	return 0;
}

/* bytes: in place of what dwz writes. */
static struct alternate alternate_in(const char *section, const char *bytes, size_t n)
{
	static const uint64_t asked[] = { ELF_LINK_ALTERNATE, ELF_LINK_ALTERNATE_ID };
	struct alternate alternate = { 0 };
	char command[128];
	int fd;

	write_file("section", bytes, n);
	snprintf(command, sizeof(command),
		 "objcopy --add-section %s=section one.so alt.so", section);
	assert_int_equal(shell(command), 0);
	fd = open_file("alt.so");
	assert_int_equal(elf_links(fd, asked, 2, on_alternate, &alternate), 0);
	close(fd);
	return alternate;
}

static struct alternate alternate_of(const char *bytes, size_t n)
{
	return alternate_in(".gnu_debugaltlink", bytes, n);
}

/* As dwz -5 says it. */
static void reads_the_supplementary_file_of_dwarf_5(void **state)
{
	static const struct {
		const char *bytes, *id;
		size_t n;
	} sections[] = {
		{ "\5\0\0x/.dwz/one\0\4\1\2\3\4", "01020304", 19 },
		{ "\5\0\0one\0\4\1\2\3\4", "01020304", 12 },
		{ "\5\0\1one\0\4\1\2\3\4", "", 12 }, /* it is the supplementary one */
		{ "\4\0\0one\0\4\1\2\3\4", "", 12 },
		{ "\5\0\0one\0\5\1\2\3\4", "", 12 },
		{ "\5\0\0one\0\3\1\2\3\4", "", 12 },
		{ "\5\0\0one\0", "", 7 },
		{ "\5\0\0one", "", 6 },
		{ "\5\0", "", 2 },
	};

	assert_string_equal(
		alternate_in(".debug_sup", sections[0].bytes, sections[0].n).name,
		".dwz/one");
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		assert_string_equal(
			alternate_in(".debug_sup", sections[i].bytes, sections[i].n).id,
			sections[i].id);
}

static int on_same(void *arg, size_t index, const char *name, uint64_t start)
{
	*(bool *)arg = true;
	return 0;
}

static bool is_same(const struct elf_identity *identity, const char *path)
{
	uint64_t words[ELF_IDENTITY_WORDS];
	bool same = false;
	int fd = open_file(path);

	memcpy(words, identity, sizeof(words));
	assert_int_equal(elf_same(fd, words, ELF_IDENTITY_WORDS, on_same, &same), 0);
	close(fd);
	return same;
}

static void knows_the_supplementary_file_of_dwarf_5(void **state)
{
	struct elf_identity wanted = { .build_id_bytes = 4, .build_id = { 1, 2, 3, 4 } };

	write_file("section", "\5\0\1\0\4\1\2\3\4", 9);
	assert_int_equal(shell("objcopy --add-section .debug_sup=section one.so sup.so"),
			 0);
	assert_true(is_same(&wanted, "sup.so"));
	wanted.build_id[0]++;
	assert_false(is_same(&wanted, "sup.so"));
}

static void reads_the_alternate_files_name_and_id(void **state)
{
	struct alternate debian =
		alternate_of("/usr/lib/debug/.dwz/x86_64/libx.debug\0\xab\x01\xff", 41);
	struct alternate elsewhere = alternate_of("../common.debug\0\1\2\3\4", 20);

	assert_string_equal(debian.name, ".dwz/x86_64/libx.debug");
	assert_string_equal(debian.id, "ab01ff");
	/* what lies elsewhere is known by its build id alone */
	assert_string_equal(elsewhere.name, "");
	assert_string_equal(elsewhere.id, "01020304");
}

static void takes_no_odd_alternate_files(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} odd[] = {
		{ ".dwz/one.debug", 14 },   /* without an end */
		{ ".dwz/one.debug\0", 15 }, /* without a build id */
		{ ".dwz/one.debug\0\1", 16 },
		{ "\0\1", 2 },
		{ ".dwz/o\0\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10", 31 },
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		assert_string_equal(alternate_of(odd[i].bytes, odd[i].n).id, "");
	/* out of the folder */
	assert_string_equal(alternate_of(".dwz/../../one\0\1\2\3\4", 19).name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_supplementary_file_of_dwarf_5),
		cmocka_unit_test(knows_the_supplementary_file_of_dwarf_5),
		cmocka_unit_test(reads_the_alternate_files_name_and_id),
		cmocka_unit_test(takes_no_odd_alternate_files),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
