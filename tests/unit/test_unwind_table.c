/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables at their limits: blocks that are full or empty, runs at a page's end,
 * more rules than have numbers. Looked up as a tick would, beside the rows that
 * the section was made of.
 */
#include "cfi_made.h"
#include "elf_files.h"

#include "../cfi/image.c"

#include <errno.h>

static struct made made;
static struct unwind_table *table;
static struct image image;

static void begin(void)
{
	memset(&made, 0, sizeof(made));
	put_plain_cie(&made);
}

static void load_table(int fd)
{
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	assert_true(image_load(&image, table));
	close(fd);
}

static void build(void)
{
	load_table(made_fd(&made));
}

static void load_table_of(const char *path)
{
	load_table(open_file(path));
}

static void end(void)
{
	image_free(&image);
	unwind_table_free(table);
}

static int sp_offset(uint64_t pc)
{
	struct unwind_rule rule = image_rule(&image, pc);

	return rule.cfa == UNWIND_CFA_SP ? rule.cfa_offset : -(int)rule.cfa;
}

/* A function whose CFA offset is 8, 16, 24, … from each `every`th byte on, and
 * begins anew after `most` of them. */
static void put_steps(uint32_t begin_at, uint32_t n, uint32_t every, uint32_t most)
{
	begin_fde(&made);
	put32(&made, begin_at - (FRAME + (uint32_t)made.n));
	put32(&made, n * every);
	put8(&made, 0);
	for (uint32_t i = 0; i < n; i++) {
		put8(&made, 0x0e);
		put_uleb(&made, 8 * (i % most + 1));
		put8(&made, (uint8_t)(0x40 | every));
	}
	end_record(&made);
}

static void check_steps(uint32_t begin_at, uint32_t n, uint32_t every, uint32_t most)
{
	for (uint32_t i = 0; i < n * every; i++)
		assert_int_equal(sp_offset(begin_at + i), 8 * (i / every % most + 1));
}

/* A row for every byte: a block's run is a page. */
static void fills_blocks(void **state)
{
	begin();
	put_steps(CODE, 5000, 1, 7);
	build();
	check_steps(CODE, 5000, 1, 7);
	assert_int_equal(sp_offset(CODE + 5000), 0);
	assert_int_equal(unwind_table_stats(table)->n_rows, 5001);
	end();
}

/* Runs of 300 rows, three to a page: a fourth does not fit. */
static void keeps_runs_in_pages(void **state)
{
	begin();
	for (uint32_t i = 0; i < 40; i++)
		put_steps(CODE + i * UNWIND_BLOCK_BYTES, 300, 3, 5);
	build();
	for (uint32_t i = 0; i < 40; i++) {
		check_steps(CODE + i * UNWIND_BLOCK_BYTES, 300, 3, 5);
		assert_int_equal(sp_offset(CODE + i * UNWIND_BLOCK_BYTES + 900), 0);
	}
	end();
}

/* One rule over 100 blocks, then 100 with nothing, then one again; none of it
 * begins or ends with a block. */
static void spans_blocks(void **state)
{
	const uint32_t a = CODE + 1000, b = a + 100 * 1024 + 5, c = b + 100 * 1024 + 9;

	begin();
	put_fde(&made, a, b - a, "\x0e\x10", 2);
	put_fde(&made, c, 3000, "\x0e\x18", 2);
	build();
	assert_int_equal(sp_offset(a - 1), 0);
	assert_int_equal(sp_offset(0), 0);
	assert_int_equal(sp_offset(UINT64_MAX), 0);
	for (uint32_t pc = a; pc < b; pc += 7)
		assert_int_equal(sp_offset(pc), 16);
	for (uint32_t pc = b; pc < c; pc += 7)
		assert_int_equal(sp_offset(pc), 0);
	assert_int_equal(sp_offset(b - 1), 16);
	assert_int_equal(sp_offset(c - 1), 0);
	assert_int_equal(sp_offset(c), 24);
	assert_int_equal(sp_offset(c + 2999), 24);
	assert_int_equal(sp_offset(c + 3000), 0);
	end();
}

static void merges_neighbours(void **state)
{
	begin();
	for (uint32_t i = 0; i < 64; i++)
		put_fde(&made, CODE + 16 * i, 16, "", 0);
	build();
	assert_int_equal(unwind_table_stats(table)->n_rows, 2);
	assert_int_equal(unwind_table_stats(table)->cfi.n_fdes, 64);
	assert_int_equal(sp_offset(CODE + 500), 8);
	end();
}

/* What has no number any more is known to be unknown. */
static void runs_out_of_rules(void **state)
{
	const uint32_t n = 70000;
	uint32_t known = 0;

	begin();
	put_steps(CODE, n, 1, n);
	build();
	for (uint32_t i = 0; i < n; i++) {
		if (sp_offset(CODE + i) == -(int)UNWIND_CFA_UNSUPPORTED)
			continue;
		assert_int_equal(sp_offset(CODE + i), 8 * (i + 1));
		known++;
	}
	assert_int_equal(known, 65535 - 2);
	assert_int_equal(unwind_table_head(table)->n_rules, 65535);
	end();
}

static void has_nothing_to_say(void **state)
{
	int fd;

	begin();
	fd = made_fd(&made);
	assert_int_equal(unwind_table_build(fd, NULL, &table), -ENODATA);
	close(fd);
	fd = bytes_fd("no ELF file", 11);
	assert_int_equal(unwind_table_build(fd, NULL, &table), -ENOEXEC);
	close(fd);
}

/* A section of a file, as readelf has it. */
static void find_plt(const char *path, const char *name, uint64_t *ret_begin,
		     uint64_t *ret_end)
{
	unsigned long begin, bytes;
	FILE *f;

	assert_int_equal(shell("readelf -SW %s | sed -n "
			       "'s/.* \\%s *PROGBITS *\\([0-9a-f]*\\) [0-9a-f]* "
			       "\\([0-9a-f]*\\).*/\\1 \\2/p' >plt",
			       path, name),
			 0);
	f = fopen("plt", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx %lx", &begin, &bytes), 2);
	fclose(f);
	*ret_begin = begin;
	*ret_end = begin + bytes;
}

static void check_stubs(const char *options, uint64_t push)
{
	uint64_t begin, end_;

	assert_int_equal(shell("aarch64-linux-gnu-gcc -w -fPIC -shared %s plt.c "
			       "-o plt.so",
			       options),
			 0);
	find_plt("plt.so", ".plt", &begin, &end_);
	load_table_of("plt.so");
	assert_true(end_ >= begin + 32 + 16 * 3);
	for (uint64_t pc = begin; pc < end_; pc += 4) {
		struct unwind_rule rule = image_rule(&image, pc);
		bool pushed = pc >= begin + push && pc < begin + 32;

		assert_int_equal(rule.cfa, UNWIND_CFA_SP);
		assert_int_equal(rule.cfa_offset, pushed ? 16 : 0);
		assert_int_equal(rule.ra, UNWIND_RA_LR);
		assert_int_equal(rule.fp, UNWIND_FP_SAME);
	}
	assert_int_equal(image_rule(&image, begin - 4).cfa, UNWIND_CFA_NONE);
	assert_true(image_rule(&image, end_).ra != UNWIND_RA_LR ||
		    image_rule(&image, end_).cfa == UNWIND_CFA_NONE);
	end();
}

/* Their stubs have no call frame information, and call nobody's frame theirs. */
static void knows_stubs_of_arm64(void **state)
{
	static const char source[] = "int a(void), b(void), c(void);\n"
				     "int f(void) { return a() + b() + c(); }\n";

	if (!has_tool("aarch64-linux-gnu-gcc"))
		skip();
	write_file("plt.c", source, strlen(source));
	check_stubs("-O1", 4);
	check_stubs("-O1 -mbranch-protection=standard -Wl,-z,force-bti 2>err", 8);
}

/* What linkers write, by hand, with 8 * pushed bytes between sp and the return
 * address before each byte of it; 9: they say nothing, and nobody may. */
static const struct {
	const char *name, *section, *code, *pushed;
} x86_stubs[] = {
	{ "lld, bound lazily", ".plt",
	  "push 8(%rip); jmp *8(%rip); nopl 8(%rax);"
	  "jmp *8(%rip); .byte 0x68; .long 0; .byte 0xe9; .long -32;"
	  "jmp *8(%rip); .byte 0x68; .long 1; .byte 0xe9; .long -48",
	  "111111"
	  "2222222222"
	  "00000000000"
	  "11111"
	  "00000000000"
	  "11111" },
	{ "lld with IBT, bound lazily", ".plt",
	  "push 8(%rip); .byte 0xf2; jmp *8(%rip); nopl (%rax);"
	  "endbr64; .byte 0x68; .long 0; .byte 0xe9; .long -32; xchg %ax, %ax",
	  "111111"
	  "2222222222"
	  "000000000"
	  "1111111" },
	{ "mold", ".plt",
	  "endbr64; push %r11; push 8(%rip); jmp *8(%rip); .fill 14, 1, 0xcc;"
	  "endbr64; mov $0, %r11d; jmp *8(%rip)",
	  "00000011111122222222222222222222"
	  "0000000000000000" },
	{ "with IBT, what is called", ".plt.sec",
	  "endbr64; jmp *8(%rip); nopw 8(%rax,%rax);"
	  "endbr64; .byte 0xf2; jmp *8(%rip); nopl 8(%rax,%rax)",
	  "00000000000000000000000000000000" },
	{ "bound at the start", ".plt.got", "jmp *8(%rip); xchg %ax, %ax", "00000000" },
	{ "GNU ld's indirect functions", ".plt",
	  "jmp *8(%rip); xchg %ax, %ax; jmp *8(%rip); xchg %ax, %ax",
	  "0000000000000000" },
	{ "lld's indirect functions", ".iplt",
	  "jmp *8(%rip); .byte 0x68; .long 0; .byte 0xe9; .long -32",
	  "00000000000"
	  "11111" },
	{ "C libraries' start files", ".init",
	  "sub $8, %rsp; mov 8(%rip), %rax; test %rax, %rax; je 1f; call *%rax; 1:"
	  "add $8, %rsp; ret",
	  "0000"
	  "1111111"
	  "111"
	  "11"
	  "11"
	  "1111"
	  "0" },
	{ "with nothing to do", ".fini", "sub $8, %rsp; add $8, %rsp; ret", "000011110" },
	{ "with IBT", ".fini", "endbr64; sub $8, %rsp; nop; add $8, %rsp; ret",
	  "00000000"
	  "1"
	  "1111"
	  "0" },
	{ "an initializer of one's own", ".init", "push %rax; call f@plt; pop %rax; ret",
	  "99999999" },
	{ "something else", ".plt", "mov %rsp, %rax; push %rax; nop; ud2; nop; nop",
	  "999999999" },
};

static void check_x86_stubs(const char *section, const char *pushed)
{
	uint64_t begin, end_;

	find_plt("x86.so", section, &begin, &end_);
	load_table_of("x86.so");
	assert_true(end_ >= begin + strlen(pushed));
	for (uint64_t pc = begin; *pushed; pc++, pushed++) {
		struct unwind_rule rule = image_rule(&image, pc);
		int n = rule.cfa_offset / 8 - 1;

		if (rule.cfa == UNWIND_CFA_PLT)
			n += (pc & 15) >= rule.reg;
		else if (rule.cfa != UNWIND_CFA_SP)
			n = rule.cfa == UNWIND_CFA_NONE ? 9 : -1;
		if (n != *pushed - '0' || rule.fp != UNWIND_FP_SAME || rule.bx_words)
			fail_msg("byte %d of %s: cfa %u%+d", (int)(pc - begin), section,
				 rule.cfa, rule.cfa_offset);
	}
	assert_int_equal(image_rule(&image, begin - 1).cfa, UNWIND_CFA_NONE);
	assert_int_equal(image_rule(&image, end_).cfa, UNWIND_CFA_NONE);
	end();
}

/* x86.so of f.c and these stubs, in a section that is aligned so; link: how else. */
static void make_stubs(const char *section, const char *code, int align, const char *link)
{
	char source[512];

	snprintf(source, sizeof(source), ".section .stubs, \"ax\"; .p2align %d; %s\n",
		 align, code);
	write_file("stubs.s", source, strlen(source));
	assert_int_equal(shell("gcc -O1 -fPIC -shared -nostdlib %s f.c stubs.s 2>err -o "
			       "x86.so && objcopy --rename-section .stubs=%s x86.so",
			       link, section),
			 0);
}

static void knows_stubs_of_x86(void **state)
{
	static const char c[] = "int f(int n) { return n + 1; }\n";

	if (shell("gcc -dumpmachine | grep -q x86_64") || !has_tool("objcopy"))
		skip();
	write_file("f.c", c, strlen(c));
	for (size_t i = 0; i < sizeof(x86_stubs) / sizeof(*x86_stubs); i++) {
		make_stubs(x86_stubs[i].section, x86_stubs[i].code, 4, "");
		check_x86_stubs(x86_stubs[i].section, x86_stubs[i].pushed);
	}
	/* a static program's are aligned to 8 alone */
	make_stubs(".plt", "jmp *8(%rip); xchg %ax, %ax", 3,
		   "-Wl,--section-start=.stubs=0x10008");
	check_x86_stubs(".plt", "00000000");
}

/* Code without call frame information: at the entry point, and behind it. */
static const char entry_code[] = ".text; .globl _start, behind; .p2align 4\n"
				 "_start: mov %rsp, %rdi; call f; call f; jmp *%r12\n"
				 ".p2align 4; behind: .fill 32, 1, 0x98; ret\n";

static uint64_t symbol_of(const char *path, const char *name)
{
	unsigned long at = 0;
	FILE *f;

	assert_int_equal(shell("nm %s | sed -n 's/ [tT] %s$//p' >symbol", path, name), 0);
	f = fopen("symbol", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &at), 1);
	fclose(f);
	return at;
}

/* how: to make entry.o and f.o a file. Is its entry told to be one? */
static bool ends_at_entry(const char *how)
{
	uint64_t entry, behind;
	bool ends = true;

	assert_int_equal(shell("gcc %s -nostdlib -o entry.elf 2>err", how), 0);
	entry = symbol_of("entry.elf", "_start");
	behind = symbol_of("entry.elf", "behind");
	load_table_of("entry.elf");
	for (uint64_t pc = entry; pc < entry + 16; pc++)
		ends &= image_rule(&image, pc).cfa == UNWIND_CFA_END;
	assert_int_not_equal(image_rule(&image, entry + 16).cfa, UNWIND_CFA_END);
	assert_int_not_equal(image_rule(&image, entry - 1).cfa, UNWIND_CFA_END);
	for (uint64_t pc = behind; pc < behind + 33; pc++)
		assert_int_equal(image_rule(&image, pc).cfa, UNWIND_CFA_SP);
	end();
	return ends;
}

static void ends_at_entries(void **state)
{
	static const char c[] = "int f(int n) { return n + 1; }\n";

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	write_file("f.c", c, strlen(c));
	write_file("entry.s", entry_code, sizeof(entry_code) - 1);
	assert_int_equal(shell("gcc -O1 -fPIC -c f.c entry.s && sed s/f/g/ f.c >g.c"), 0);
	assert_true(ends_at_entry("-static entry.o f.o"));
	assert_true(ends_at_entry("-static f.o entry.o g.c"));
	assert_true(ends_at_entry("-pie f.o entry.o"));
	/* as a dynamic linker is made; and a library, whose first byte that is */
	assert_true(ends_at_entry("-shared -Wl,-Bsymbolic,-e,_start f.o entry.o"));
	assert_false(ends_at_entry("-shared -Wl,-Bsymbolic,-e,_start entry.o f.o"));
	assert_false(ends_at_entry("-static -Wl,-e,f entry.o f.o"));
}

/* As libgcc's functions end that throw; how: the register, the frame before it. */
#define THROWS(register, before)                                                         \
	".text; .globl throws, writes, jumps; .p2align 4; throws: .cfi_startproc\n"      \
	"push %rbp; .cfi_adjust_cfa_offset 8; .cfi_offset %rbp, -16; mov %rsp, "         \
	"%rbp\n" before "call f; nop; writes: call f; mov 8(%rbp), %rdx; call f\n"       \
	"mov %rsi, 8(%rbp,%rdx); lea 8(%rbp,%rdx), %rcx; mov (%rbp), %rbp\n"             \
	"jumps: .cfi_def_cfa " register ", 8; mov %rcx, %rsp; .cfi_def_cfa %rsp, 8\n"    \
					"pop %rcx; .cfi_def_cfa_offset 0; "              \
					".cfi_register %rip, %rcx; jmp "                 \
					"*%rcx\n.cfi_endproc\n"

static void build_throws(const char *source)
{
	static const char c[] = "int f(int n) { return n + 1; }\n";

	write_file("f.c", c, strlen(c));
	write_file("throws.s", source, strlen(source));
	assert_int_equal(shell("gcc -O1 -fPIC -shared -nostdlib f.c throws.s -o "
			       "throws.so 2>err"),
			 0);
	load_table_of("throws.so");
}

static enum unwind_cfa cfa_at(uint64_t pc)
{
	return image_rule(&image, pc).cfa;
}

/* Between the call that writes over its frame and the jump, nothing is known. */
static void knows_who_throws(void **state)
{
	uint64_t writes, jumps;

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	build_throws(THROWS("%rcx", ".cfi_def_cfa_register %rbp\n"));
	writes = symbol_of("throws.so", "writes");
	jumps = symbol_of("throws.so", "jumps");
	assert_int_equal(cfa_at(writes - 1), UNWIND_CFA_FP);
	assert_int_equal(cfa_at(writes), UNWIND_CFA_TORN);
	assert_int_equal(cfa_at(writes + 4), UNWIND_CFA_TORN); /* its return */
	assert_int_equal(cfa_at(jumps - 1), UNWIND_CFA_TORN);
	assert_int_equal(cfa_at(jumps), UNWIND_CFA_REG);
	assert_int_equal(cfa_at(jumps + 3), UNWIND_CFA_SP);
	assert_int_equal(cfa_at(jumps + 4), UNWIND_CFA_TORN);
	end();

	build_throws(THROWS("%r10", ".cfi_def_cfa_register %rbp\n"));
	assert_int_equal(cfa_at(symbol_of("throws.so", "jumps") - 1), UNWIND_CFA_FP);
	end();
	build_throws(THROWS("%rcx", ""));
	assert_int_equal(cfa_at(symbol_of("throws.so", "jumps") - 1), UNWIND_CFA_SP);
	end();
}

#define NOTE(bytes, type)                                                                \
	".section .note.go.buildid, \"a\", @note; .p2align 2; .long " bytes ", 4, " type \
	"; .ascii \"Go\\0\\0abcd\"\n"

/* In Go's code some return to where nobody called from; its linker's note tells it. The
 * linker says that the name has four bytes. */
static void knows_go(void **state)
{
	static const struct {
		const char *note;
		bool is_go;
	} cases[] = { { "", false },
		      { NOTE("4", "3"), false },
		      { NOTE("4", "4"), true },
		      { NOTE("3", "4"), true },
		      { NOTE("2", "4"), false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		build_throws(cases[i].note);
		assert_int_equal(!(unwind_table_head(table)->flags & UNWIND_CALLS),
				 cases[i].is_go);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_blocks),
		cmocka_unit_test(keeps_runs_in_pages),
		cmocka_unit_test(spans_blocks),
		cmocka_unit_test(merges_neighbours),
		cmocka_unit_test(runs_out_of_rules),
		cmocka_unit_test(has_nothing_to_say),
		cmocka_unit_test(knows_stubs_of_arm64),
		cmocka_unit_test(knows_stubs_of_x86),
		cmocka_unit_test(ends_at_entries),
		cmocka_unit_test(knows_who_throws),
		cmocka_unit_test(knows_go),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
