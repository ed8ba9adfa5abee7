/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names out of ELF files: which symbol an address gets and which it must not,
 * against nm, objdump and the dynamic loader.
 */
#include "named.h"

#include <dlfcn.h>
#include <errno.h>

static const char syms_c[] =
	"#define NOINLINE __attribute__((noinline))\n"
	"volatile int sink;\n"
	"NOINLINE int exported(int n) { return sink = n + 1; }\n"
	"static NOINLINE int hidden(int n) { return sink = n * 3 + 1; }\n"
	"NOINLINE int caller(int n) { return hidden(n) + hidden(n + sink); }\n"
	"extern int _plain(int) __attribute__((alias(\"__plain\")));\n"
	"extern int plain(int) __attribute__((weak, alias(\"__plain\")));\n"
	"extern int plain64(int) __attribute__((weak, alias(\"__plain\")));\n"
	"NOINLINE int __plain(int n) { return sink = n - 7; }\n"
	"static int twin(int) __attribute__((alias(\"__twin\"), used));\n"
	"NOINLINE int __twin(int n) { return sink = n - 9; }\n"
	"__attribute__((section(\".text#\"))) const unsigned char array[8] = { 0xc3 };\n"
	"const unsigned char data[8] = { 0xc3 };\n"
	"asm(\".text\\n.p2align 4\\n"
	".globl asm_first\\nasm_first: nop\\n.rept 30\\nnop\\n.endr\\n"
	".globl asm_second\\nasm_second: ret\\n.rept 15\\nnop\\n.endr\\n"
	".globl outer\\n.type outer, %function\\nouter: .rept 8\\nnop\\n.endr\\n"
	".type inner, %function\\ninner: .rept 8\\nnop\\n.endr\\n.size inner, 8\\n"
	".rept 8\\nnop\\n.endr\\n.size outer, 24\\n"
	"after_outer_hole: nop\\n.size after_outer_hole, 1\\n"
	".rept 15\\nnop\\n.endr\\n\");\n";

static const char calls_c[] = "#include <stdio.h>\n#include <stdlib.h>\n"
			      "#include <string.h>\n#include <math.h>\n"
			      "void *keep[] = { malloc };\n"
			      "int f(const char *s) { puts(s); free(malloc(strlen(s)));\n"
			      "  return abs(atoi(s)) + (getenv(s) != 0); }\n"
			      "void *(*g(void))(size_t) { return malloc; }\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("syms.c", syms_c, strlen(syms_c));
	write_file("calls.c", calls_c, strlen(calls_c));
	return shell("gcc -w -O1 -fPIC -shared syms.c -o syms.so &&"
		     "strip -o stripped.so syms.so &&"
		     "objcopy --only-keep-debug syms.so syms.debug");
}

/* The name of the byte that lies distance behind a symbol of syms.so. */
static const char *name_at(int fd, const char *symbol, uint64_t distance)
{
	uint64_t vaddr = nm_value("", "syms.so", symbol);

	assert_true(vaddr != 0);
	return name_by(file_names, fd, offset_of(fd, vaddr + distance));
}

static void names_functions_by_their_size(void **state)
{
	int fd = open_file("syms.so");

	assert_string_equal(name_at(fd, "exported", 0), "exported");
	assert_string_equal(name_at(fd, "exported", 3), "exported");
	assert_string_equal(name_at(fd, "hidden", 2), "hidden");
	assert_string_equal(name_at(fd, "inner", 0), "inner");
	assert_string_equal(name_at(fd, "inner", 7), "inner");
	assert_string_equal(name_at(fd, "inner", 8), "outer");
	assert_string_equal(name_at(fd, "outer", 23), "outer");
	assert_string_equal(name_at(fd, "after_outer_hole", 0), "after_outer_hole");
	assert_string_equal(name_at(fd, "after_outer_hole", 1), "");
	close(fd);
}

/* Not what is data, though it looks the same. */
static void names_code_in_an_array(void **state)
{
	int fd = open_file("syms.so");

	assert_string_equal(name_at(fd, "array", 0), "array");
	assert_string_equal(name_at(fd, "array", 7), "array");
	assert_string_equal(name_at(fd, "data", 0), "");
	close(fd);
}

static void names_assembly_up_to_the_next_symbol(void **state)
{
	int fd = open_file("syms.so");

	assert_string_equal(name_at(fd, "asm_first", 0), "asm_first");
	assert_string_equal(name_at(fd, "asm_first", 30), "asm_first");
	assert_string_equal(name_at(fd, "asm_second", 0), "asm_second");
	assert_string_equal(name_at(fd, "asm_second", 15), "asm_second");
	assert_string_equal(name_at(fd, "outer", 0), "outer");
	close(fd);
}

/* As NASM writes them. A label is a function's where its name says so, or the code that
 * comes before goes on there; else it names what nothing else does. */
static void labels_are_their_functions(void **state)
{
	static const char source[] =
		".text; .globl work, work2; .type work, %function; .p2align 4\n"
		"work: cld; \"..@2.loop\": cld; \"work.l\": cld; plain: cld;\n"
		"\"plain.l\": cld; .l2: cld; ret\n"
		"helper: cld; \"helper.l\": cld; jmp *%rax\n"
		"\"helper.2\": cld; \"other.l\": cld; ret\n"
		"work3: ret; \"helper.9\": ret; .globl work3\n"
		"work2: cld; \"..@4.loop\": call sub; syscall; sub: cld; "
		"\"sub.l\": cld; "
		"ret\n"
		".section .alone, \"ax\"; alone: \"..@6.end\": cld\n";
	static const char *const names[] = {
		"work",	  "work",     "work",	"work",	  "work",   "work",    "work",
		"helper", "helper",   "helper", "helper", "helper", "other.l", "other.l",
		"work3",  "helper.9", "work2",	"work2",  "work2",  "work2",   "work2",
		"work2",  "work2",    "work2",	"sub",	  "sub",    "sub",
	};
	uint64_t at;
	int fd;

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	write_file("nasm.s", source, strlen(source));
	assert_int_equal(shell("gcc -Wa,-L -nostdlib -shared nasm.s -o nasm.so &&"
			       "objcopy -N alone nasm.so alone.so"),
			 0);
	fd = open_file("nasm.so");
	at = offset_of(fd, nm_value("", "nasm.so", "work"));
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		assert_string_equal(name_by(file_names, fd, at + k), names[k]);
	at = offset_of(fd, nm_value("", "nasm.so", "alone"));
	assert_string_equal(name_by(file_names, fd, at), "alone");
	close(fd);
	fd = open_file("alone.so");
	assert_string_equal(name_by(file_names, fd, at), "..@6.end");
	close(fd);
}

/* What gcc puts into each program has no size either, and nothing of what follows. */
static void what_is_gccs_ends_soon(void **state)
{
	static const char source[] = ".text\n"
				     "frame_dummy: nop\n.rept 499\nnop\n.endr\n"
				     "frame_dummy2: nop\n.rept 499\nnop\n.endr\n";
	uint64_t first, second;
	int fd;

	write_file("gccs.s", source, strlen(source));
	assert_int_equal(shell("gcc -shared -nostdlib gccs.s -o gccs.so"), 0);
	first = nm_value("", "gccs.so", "frame_dummy");
	second = nm_value("", "gccs.so", "frame_dummy2");
	fd = open_file("gccs.so");
	assert_string_equal(name_by(file_names, fd, offset_of(fd, first)), "frame_dummy");
	assert_string_equal(name_by(file_names, fd, offset_of(fd, first + 8)),
			    "frame_dummy");
	assert_string_equal(name_by(file_names, fd, offset_of(fd, first + 100)), "");
	assert_string_equal(name_by(file_names, fd, offset_of(fd, second + 100)),
			    "frame_dummy2");
	close(fd);
}

static void gives_the_name_that_users_know(void **state)
{
	int fd = open_file("syms.so");

	assert_string_equal(name_at(fd, "__plain", 1), "plain");
	assert_string_equal(name_at(fd, "__twin", 1), "__twin"); /* twin is local */
	close(fd);
}

static void never_gives_a_neighbours_name(void **state)
{
	int fd = open_file("stripped.so");

	assert_string_equal(name_at(fd, "exported", 1), "exported");
	assert_string_equal(name_at(fd, "hidden", 0), "");
	assert_string_equal(name_at(fd, "hidden", 4), "");
	close(fd);
	/* nor without section headers */
	cut_sections("stripped.so", "cut.so");
	fd = open_file("cut.so");
	assert_string_equal(name_at(fd, "exported", 1), "exported");
	assert_string_equal(name_at(fd, "hidden", 0), "");
	close(fd);
}

static void reads_a_debug_file(void **state)
{
	int fd = open_file("syms.debug");
	uint64_t hidden = nm_value("", "syms.so", "hidden");

	assert_string_equal(name_by(linked_names, fd, hidden + 1), "hidden");
	assert_string_equal(name_by(linked_names, fd, UINT64_MAX), "");
	assert_string_equal(name_by(file_names, fd, hidden + 1), "");
	close(fd);
}

/* The loader's own answer for every 16th byte of this libc's code. */
static void agrees_with_the_loader(void **state)
{
	static uint64_t addrs[NAMED_MAX];
	const uint64_t step = 16 * 29;
	const struct elf_segment *code = NULL;
	struct elf_info elf_info;
	struct named *named;
	size_t n = 0, agreed = 0;
	Dl_info libc, info;
	char *base;
	int fd;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc));
	base = libc.dli_fbase;
	fd = open_file(libc.dli_fname);
	if (!shell("readelf -SW %s | grep -q SYMTAB", libc.dli_fname))
		skip(); /* then ours knows more */
	assert_int_equal(elf_scan(fd, &elf_info), 0);
	for (uint32_t i = 0; i < elf_info.n_segments; i++)
		if (elf_info.segments[i].flags & PF_X)
			code = &elf_info.segments[i];
	assert_non_null(code);
	for (; n < NAMED_MAX && n * step < code->file_bytes; n++)
		addrs[n] = code->offset + n * step;
	named = named_by(file_names, fd, addrs, n);
	for (size_t i = 0; i < n; i++) {
		char *address = base + code->vaddr + i * step;

		assert_true(dladdr(address, &info));
		if (!info.dli_saddr) {
			if (!strstr(named->items[i].name, "@plt"))
				assert_string_equal(named->items[i].name, "");
			continue;
		}
		agreed++;
		assert_string_not_equal(named->items[i].name, "");
		assert_int_equal(named->items[i].start - code->offset + code->vaddr,
				 (char *)info.dli_saddr - base);
	}
	assert_true(agreed > 500);
	free(named);
	close(fd);
}

/* Every stub that objdump names; it goes by the tables, we by the code. */
static void check_stubs(const char *objdump, const char *path, size_t least)
{
	char command[256], line[512], name[256], want[256];
	int fd = open_file(path);
	unsigned long vaddr;
	size_t found = 0;
	FILE *f;

	snprintf(command, sizeof(command), "%s -d %s", objdump, path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx <%255[^>]>:", &vaddr, name) != 2 ||
		    !strstr(name, "@plt") || strstr(name, "@plt-"))
			continue;
		snprintf(want, sizeof(want), "%.*s@plt", (int)strcspn(name, "@"), name);
		for (uint64_t k = 0; k < 8; k += 4)
			assert_string_equal(
				name_by(file_names, fd, offset_of(fd, vaddr + k)), want);
		found++;
	}
	pclose(f);
	close(fd);
	if (found < least)
		fail_msg("%s: %zu stubs", path, found);
}

static void names_plt_stubs(void **state)
{
	static const char *const options[] = {
		"-Wl,-z,lazy",
		"-Wl,-z,now",
		"-s -Wl,-z,now",
		"-fcf-protection=full -Wl,-z,lazy,-z,ibtplt",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (shell("gcc -w -fno-builtin -fPIC -shared %s calls.c -o calls.so "
			  "2>err",
			  options[i]))
			continue; /* the last is x86-64's own */
		check_stubs("objdump", "calls.so", 5);
	}
}

/* As it writes them: their numbers are in r11. */
static void names_plt_stubs_of_mold(void **state)
{
	static const char source[] =
		".text; .globl f; f: ret; .section .stubs, \"ax\"; .p2align 4\n"
		"one: endbr64; mov $0, %r11d; jmp *puts@GOTPCREL(%rip)\n"
		"two: mov $1, %r11d; jmp *free@GOTPCREL(%rip); .fill 4, 1, 0xcc\n";
	uint64_t at;
	int fd;

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	write_file("mold.s", source, strlen(source));
	assert_int_equal(shell("gcc -shared mold.s -o mold.so && objcopy "
			       "--rename-section .plt=.others --rename-section "
			       ".stubs=.plt mold.so mold_plt.so && "
			       "strip --strip-unneeded mold_plt.so"),
			 0);
	fd = open_file("mold_plt.so");
	at = offset_of(fd, nm_value("", "mold.so", "one"));
	for (uint64_t k = 0; k < 16; k++)
		assert_string_equal(name_by(file_names, fd, at + k), "puts@plt");
	for (uint64_t k = 0; k < 12; k++)
		assert_string_equal(name_by(file_names, fd, at + 16 + k), "free@plt");
	close(fd);
}

/* Swift's begin as an assembler's own do, that tell code from data on arm64. */
static void names_that_begin_with_a_dollar(void **state)
{
	static const char source[] =
		".text; .p2align 4; .type \"$s1a4hashys6UInt64VSiF\", %function\n"
		"\"$s1a4hashys6UInt64VSiF\": \"$x\": \"$x.1\": nop; \"$d\": nop\n"
		".size \"$s1a4hashys6UInt64VSiF\", 2; base: .fill 14, 1, 0\n";
	uint64_t at;
	int fd;

	write_file("swift.s", source, strlen(source));
	assert_int_equal(shell("gcc -shared swift.s -o swift.so"), 0);
	fd = open_file("swift.so");
	at = offset_of(fd, nm_value("", "swift.so", "base")) - 2;
	for (uint64_t k = 0; k < 2; k++)
		assert_string_equal(name_by(file_names, fd, at + k),
				    "$s1a4hashys6UInt64VSiF");
	close(fd);
}

static void names_plt_stubs_of_arm64(void **state)
{
	if (!has_tool("aarch64-linux-gnu-gcc"))
		skip();
	assert_int_equal(shell("aarch64-linux-gnu-gcc -w -fno-builtin -fPIC -shared "
			       "calls.c -o arm.so"),
			 0);
	check_stubs("aarch64-linux-gnu-objdump", "arm.so", 5);
	assert_int_equal(shell("aarch64-linux-gnu-gcc -w -fno-builtin -fPIC -shared "
			       "-mbranch-protection=standard -Wl,-z,force-bti "
			       "calls.c -o arm.so 2>err"),
			 0);
	check_stubs("aarch64-linux-gnu-objdump", "arm.so", 5);
}

/* $x and $d lie on every function there. */
static void skips_mapping_symbols(void **state)
{
	const char source[] = ".text\n.globl f\nf: nop\n.word 0\nnop\n"
			      ".globl g\n.type g, %function\ng: ret\n.size g, 4\n";
	uint64_t vaddr;
	int fd;

	if (!has_tool("aarch64-linux-gnu-gcc"))
		skip();
	write_file("map.s", source, strlen(source));
	assert_int_equal(shell("aarch64-linux-gnu-gcc -shared -nostdlib map.s -o map.so"),
			 0);
	fd = open_file("map.so");
	vaddr = nm_value("", "map.so", "f");
	for (uint64_t k = 0; k < 12; k += 4)
		assert_string_equal(name_by(file_names, fd, offset_of(fd, vaddr + k)),
				    "f");
	assert_string_equal(name_by(file_names, fd, offset_of(fd, vaddr + 12)), "g");
	close(fd);
}

static int refuse(void *arg, size_t index, const char *name, uint64_t start)
{
	++*(int *)arg;
	return -ECANCELED;
}

static void stops_when_the_sink_says_so(void **state)
{
	int fd = open_file("syms.so"), calls = 0;
	uint64_t addrs[2];

	addrs[0] = offset_of(fd, nm_value("", "syms.so", "inner"));
	addrs[1] = addrs[0] + 8;
	assert_int_equal(file_names(fd, addrs, 2, refuse, &calls), -ECANCELED);
	assert_int_equal(calls, 1);
	assert_int_equal(file_names(fd, addrs, 0, refuse, &calls), 0);
	assert_int_equal(calls, 1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_functions_by_their_size),
		cmocka_unit_test(names_code_in_an_array),
		cmocka_unit_test(names_assembly_up_to_the_next_symbol),
		cmocka_unit_test(labels_are_their_functions),
		cmocka_unit_test(gives_the_name_that_users_know),
		cmocka_unit_test(what_is_gccs_ends_soon),
		cmocka_unit_test(never_gives_a_neighbours_name),
		cmocka_unit_test(reads_a_debug_file),
		cmocka_unit_test(agrees_with_the_loader),
		cmocka_unit_test(names_plt_stubs),
		cmocka_unit_test(names_plt_stubs_of_mold),
		cmocka_unit_test(names_that_begin_with_a_dollar),
		cmocka_unit_test(names_plt_stubs_of_arm64),
		cmocka_unit_test(skips_mapping_symbols),
		cmocka_unit_test(stops_when_the_sink_says_so),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
