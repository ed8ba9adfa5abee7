// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inlined functions of a file with much debug information: what reading holds in memory
 * is bounded by what is asked, packed or not, and not by what the file has; and of one
 * that says of blocks that they follow themselves: each is visited once.
 */
#include "obj/inlines.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <sys/wait.h>

#define HELD_MAX (16u << 20) /* a quarter of it */

static const char source[] =
	"static inline __attribute__((always_inline)) int within(int n)\n"
	"{ asm volatile(\".globl asked\\nasked: nop\"); return n * 3; }\n"
	"int one(int n) { return within(n) + 1; }\n";

/* Units of a MB each, of nobody's, before the one that is asked for. */
static const char others[] = ".section .debug_info\n"
			     ".rept 64\n"
			     ".long 2f-1f\n"
			     "1: .short 5\n.byte 3, 8\n.long 0\n.skip 1 << 20\n2:\n"
			     ".endr\n"
			     ".section .note.GNU-stack\n";

/* A unit of blocks, each within the one before, and each said to be followed by the one
 * within it. */
static const char circle[] = ".text\n.globl asked\nasked: nop\nret\n"
			     ".section .debug_abbrev\n"
			     ".byte 1,0x11,1, 0x11,0x01, 0x12,0x07, 0,0\n"
			     ".byte 2,0x0b,1, 0x01,0x13, 0,0\n"
			     ".byte 0\n"
			     ".section .debug_info\n"
			     "unit: .long end-1f\n"
			     "1: .short 4\n.long 0\n.byte 8\n"
			     ".byte 1\n.quad asked\n.quad 2\n"
			     ".rept 200\n.byte 2\n.long .+4-unit\n.endr\n"
			     ".rept 201\n.byte 0\n.endr\n"
			     "end:\n"
			     ".section .note.GNU-stack\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("one.c", source, strlen(source));
	write_file("others.s", others, strlen(others));
	write_file("circle.s", circle, strlen(circle));
	return shell(
		"gcc -w -g -gdwarf-5 -O2 -fPIC -shared others.s one.c -o plain.so && "
		"objcopy --compress-debug-sections=zlib plain.so packed.so && "
		"gcc -shared -nostdlib circle.s -o circle.so");
}

static unsigned long peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu kB", &kb) == 1)
			break;
	fclose(f);
	return kb << 10;
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	int *answered = arg;

	if (n == 2 && !strcmp(locations[0].name, "within") && locations[0].line == 2 &&
	    locations[1].line == 3)
		*answered = 1;
	return 0;
}

/* 0, or what is wrong */
static int ask(const char *name, uint64_t addr)
{
	const struct inline_request request = { .fd = open_file(name),
						.files = { .alternate = -1 },
						.addrs = &addr,
						.n = 1 };
	int answered = 0, clear = open("/proc/self/clear_refs", O_WRONLY);
	unsigned long before;

	/* the mark begins at what is there now */
	if (clear < 0 || write(clear, "5", 1) != 1)
		return 1;
	before = peak_bytes();
	if (elf_inlines(&request, on_locations, &answered) || !answered)
		return 2;
	return peak_bytes() - before > HELD_MAX ? 3 : 0;
}

static void check(const char *name)
{
	uint64_t addr = nm_value("", name, "asked");
	int status;
	pid_t child = fork();

	if (!child)
		_exit(ask(name, addr));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void holds_little_of_much(void **state)
{
	check("plain.so");
}

static void holds_little_of_much_that_is_packed(void **state)
{
	check("packed.so");
}

static int on_any(void *arg, size_t index, const struct source_location *locations,
		  size_t n)
{
	return 0;
}

/* If it does not end, it does not within any time. */
static void visits_each_block_once(void **state)
{
	uint64_t addr = nm_value("", "circle.so", "asked");
	const struct inline_request request = { .fd = open_file("circle.so"),
						.files = { .alternate = -1 },
						.addrs = &addr,
						.n = 1 };
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(60);
		_exit(elf_inlines(&request, on_any, NULL) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(request.fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_little_of_much),
		cmocka_unit_test(holds_little_of_much_that_is_packed),
		cmocka_unit_test(visits_each_block_once),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
