// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols that a stripped file carries packed (.gnu_debugdata), made the way in which
 * Fedora's packages are: what they name, in the worker as well, and what damage costs.
 */
#include "obj/elf_debugdata.h"
#include "worker/worker.h"

#include "named.h" /* last: cmocka has a fail() of its own */

#include <errno.h>

#define PACKED "objcopy --add-section .gnu_debugdata=%s stripped.so %s"

static const char source[] =
	"#define NOINLINE __attribute__((noinline))\n"
	"volatile int sink;\n"
	"static NOINLINE int hidden(int n) { return sink = n * 3 + 1; }\n"
	"NOINLINE int exported(int n) { return hidden(n) + hidden(n + sink); }\n"
	"int __twin(int n) { return sink = n - 9; }\n"
	"asm(\".text\\n.p2align 4\\n.globl bare\\nbare: .rept 16\\nnop\\n.endr\\n"
	".type in_bare, %function\\nin_bare: .rept 8\\nnop\\n.endr\\n.size in_bare, 8\\n"
	".rept 8\\nnop\\n.endr\\n"
	".globl end\\n.type end, %function\\nend: nop\\n.size end, 1\\n\");\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", source, strlen(source));
	if (shell("gcc -w -g -O1 -fPIC -shared s.c -o whole.so && strip -o stripped.so "
		  "whole.so && objcopy --only-keep-debug whole.so debug && "
		  "printf 'hidden\\nin_bare\\n' >keep && "
		  "objcopy -S --remove-section .comment --keep-symbols=keep debug mini "
		  "&& "
		  "xz -k mini"))
		return -1;
	return shell(PACKED, "mini.xz", "packed.so");
}

/* Where a function of whole.so lies in all of these files. */
static uint64_t place_of(const char *function)
{
	int fd = open_file("whole.so");
	struct elf_info info;
	uint64_t vaddr = nm_value("", "whole.so", function);

	assert_true(vaddr != 0);
	assert_int_equal(elf_scan(fd, &info), 0);
	close(fd);
	for (uint32_t i = 0; i < info.n_segments; i++)
		if (vaddr - info.segments[i].vaddr < info.segments[i].file_bytes)
			return vaddr - info.segments[i].vaddr + info.segments[i].offset;
	fail_msg("%s is in no segment", function);
	return 0;
}

static void names_what_dynsym_does_not(void **state)
{
	int fd = open_file("stripped.so");

	assert_string_equal(name_by(file_names, fd, place_of("hidden") + 1), "");
	close(fd);
	fd = open_file("packed.so");
	assert_string_equal(name_by(file_names, fd, place_of("hidden") + 1), "hidden");
	assert_string_equal(name_by(file_names, fd, place_of("exported") + 1),
			    "exported");
	assert_string_equal(name_by(file_names, fd, place_of("__twin")), "__twin");
	/* of the two tables that one wins which says most */
	assert_string_equal(name_by(file_names, fd, place_of("bare") + 15), "bare");
	assert_string_equal(name_by(file_names, fd, place_of("in_bare")), "in_bare");
	assert_string_equal(name_by(file_names, fd, place_of("in_bare") + 8), "");
	close(fd);
}

static void names_in_the_worker(void **state)
{
	const uint64_t at = place_of("hidden");
	struct named *named = calloc(1, sizeof(*named));
	int fd = open_file("packed.so");
	struct worker *worker;

	assert_non_null(named);
	named->n = 1;
	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, fd, &at, 1, 60000 },
			     named_sink, named),
		0);
	assert_string_equal(named->items[0].name, "hidden");
	worker_free(worker);
	free(named);
	close(fd);
}

/* The file's own symbols still name, and the error is told. */
static void costs_only_itself(const char *section, int want)
{
	const uint64_t addrs[] = { place_of("hidden"), place_of("exported") };
	struct named *named = calloc(1, sizeof(*named));
	int fd;

	assert_non_null(named);
	named->n = 2;
	assert_int_equal(shell(PACKED, section, "bad.so"), 0);
	fd = open_file("bad.so");
	assert_int_equal(file_names(fd, addrs, 2, named_sink, named), want);
	assert_string_equal(named->items[0].name, "");
	assert_string_equal(named->items[1].name, "exported");
	close(fd);
	free(named);
}

static void takes_no_damage(void **state)
{
	size_t n;
	unsigned char *bytes = read_file("mini.xz", &n);

	write_file("bad.xz", bytes, n - 9);
	costs_only_itself("bad.xz", -EBADMSG);
	bytes[n / 2] ^= 0x40;
	write_file("bad.xz", bytes, n);
	costs_only_itself("bad.xz", -EBADMSG);
	free(bytes);
	costs_only_itself("s.c", -EBADMSG);
	assert_int_equal(shell("xz -c s.c >text.xz"), 0);
	costs_only_itself("text.xz", -EBADMSG);
	assert_int_equal(shell(": >empty"), 0);
	costs_only_itself("empty", -EBADMSG);
}

/* Of another kind of file, whose addresses mean something else. */
static void takes_no_other_machines(void **state)
{
	size_t n;
	unsigned char *bytes = read_file("mini", &n);

	((Elf64_Ehdr *)bytes)->e_machine ^= 1;
	write_file("other", bytes, n);
	free(bytes);
	assert_int_equal(shell("xz -kf other"), 0);
	costs_only_itself("other.xz", -EBADMSG);
}

/* A few KB that would be much. */
static void unpacks_only_so_much(void **state)
{
	assert_int_equal(
		shell("truncate -s %u much && xz -0 -f much", ELF_UNPACKED_MAX + 4096),
		0);
	costs_only_itself("much.xz", -EFBIG);
	assert_int_equal(shell("truncate -s %u packed_much", ELF_PACKED_MAX + 1), 0);
	costs_only_itself("packed_much", -EFBIG);
	/* nor with a dictionary of 256 MB */
	assert_int_equal(shell("xz -c --lzma2=dict=256MiB mini >wide.xz"), 0);
	costs_only_itself("wide.xz", -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_dynsym_does_not),
		cmocka_unit_test(names_in_the_worker),
		cmocka_unit_test(takes_no_damage),
		cmocka_unit_test(takes_no_other_machines),
		cmocka_unit_test(unpacks_only_so_much),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
