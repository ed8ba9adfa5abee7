// SPDX-License-Identifier: BSD-2-Clause
/* Which files run generated code, and what that has on the stack. */
#include "elf_files.h"

#include "unwind/unwind_table.h"

static struct unwind_rule hosted;
static unsigned int flags;

/* A library of that assembly: does it run such code? */
static bool is_host(const char *assembly)
{
	struct unwind_table *table;
	FILE *file = fopen("host.s", "w");
	int fd;

	assert_non_null(file);
	fprintf(file, ".text\n.globl %s\n.section .note.GNU-stack,\"\",@progbits\n",
		assembly);
	fclose(file);
	assert_int_equal(
		shell("gcc -shared -nostdlib -Wl,--hash-style=gnu,-Ttext=0x10000 "
		      "-o host.so host.s"),
		0);
	fd = open("host.so", O_RDONLY);
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	flags = unwind_table_head(table)->flags;
	hosted = unwind_table_head(table)->hosted;
	unwind_table_free(table);
	close(fd);
	return flags & UNWIND_HOST;
}

#define ENTRY(name, type)                                                                \
	name "\n.type " name ", @" type "\n" name ":\n.cfi_startproc\n"                  \
	     "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\n"
#define EXIT(name)                                                                       \
	"pop %rbx\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size " name ", .-" name "\n"
/* with a stretch of more on the stack, and a smaller one of that again */
#define BODY                                                                             \
	"sub $64, %rsp\n.cfi_adjust_cfa_offset 64\n.skip 600, 0x90\n"                    \
	"push $0\n.cfi_adjust_cfa_offset 8\n.skip 400, 0x90\npop %rax\n"                 \
	".cfi_adjust_cfa_offset -8\nadd $64, %rsp\n.cfi_adjust_cfa_offset -64\n"

static void test_on_the_frame_of_its_interpreter(void **state)
{
	assert_true(is_host(ENTRY("execute_ex", "function") BODY EXIT("execute_ex")));
	assert_int_equal(hosted.cfa, UNWIND_CFA_SP);
	assert_int_equal(hosted.cfa_offset, 16 + 64);
	assert_int_equal(hosted.bx_words, -2);
	assert_int_equal(hosted.ra_words, -1);
}

static void test_on_one_by_frame_pointer(void **state)
{
	assert_true(is_host("execute_ex\n.type execute_ex, @function\nexecute_ex:\n"
			    ".cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
			    ".cfi_offset %rbp, -16\nmov %rsp, %rbp\n"
			    ".cfi_def_cfa_register %rbp\n.skip 400, 0x90\nleave\n"
			    ".cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n"
			    ".size execute_ex, .-execute_ex\n"));
	assert_int_equal(hosted.cfa, UNWIND_CFA_FP);
	assert_int_equal(hosted.cfa_offset, 16);
	assert_int_equal(hosted.fp_words, -2);
}

/* What these run is known, whatever they are like themselves. */
static void test_on_a_frame_of_its_own(void **state)
{
	assert_true(is_host(ENTRY("ruby_run_node", "function") EXIT("ruby_run_node")));
	assert_int_equal(hosted.cfa_offset, 32);
	assert_int_equal(hosted.bx_words, -4);
	assert_int_equal(hosted.fp, UNWIND_FP_SAME);
	assert_true(is_host(ENTRY("scm_call_n", "function") EXIT("scm_call_n")));
	assert_int_equal(hosted.bx_words, UNWIND_BX_LOST);
	assert_true(
		is_host(ENTRY("S_generic_invoke", "function") EXIT("S_generic_invoke")));
	assert_int_equal(hosted.cfa_offset, 16);
	assert_int_equal(hosted.fp, UNWIND_FP_LOST);
	assert_true(is_host(ENTRY("pypy_main_startup", "function")
				    EXIT("pypy_main_startup")));
	assert_int_equal(hosted.cfa_offset, 192);
	assert_int_equal(hosted.reg, UNWIND_NESTS);
	assert_true(
		is_host(ENTRY("cpu_exec_aarch64", "function") EXIT("cpu_exec_aarch64")));
	assert_int_equal(hosted.cfa_offset, 1216);
	assert_true(is_host(ENTRY("qemu_plugin_bool_parse", "function")
				    EXIT("qemu_plugin_bool_parse")));
	assert_int_equal(hosted.cfa_offset, 1216);
	assert_int_equal(hosted.fp_words, -2);
}

/* sub; mov %rbx, 16384(%rsp); jmp *%rdi; …; add; ret, and the room that it says to be
 * between what it calls the CFA and its caller's stack pointer */
#define ENTERING(room, cfa)                                                              \
	"enter\nenter:\n.cfi_startproc\nsub $16392, %rsp\nmov %rbx, 16384(%rsp)\n"       \
	".cfi_def_cfa " cfa "\n.cfi_offset rbx, 16384\n.cfi_offset rip, 16392\n"         \
	".cfi_escape 0x16, 7, 4, 0x77, " room "\n" /* DW_CFA_val_expression */           \
	"jmp *%rdi\nadd $16392, %rsp\nret\n.cfi_endproc\n"
#define GHCS_ROOM "0x90, 0x80, 0x01" /* 16400 */
#define LESS_ROOM "0x90, 0xff, 0x00" /* 16272 */

static void test_enters_what_lies_in_files(void **state)
{
	assert_true(is_host(ENTERING(GHCS_ROOM, "rsp, 0")));
	assert_true(flags & UNWIND_HOST_OF_FILES);
	assert_int_equal(hosted.cfa, UNWIND_CFA_SP);
	assert_int_equal(hosted.cfa_offset, 16400);
	assert_int_equal(hosted.bx_words, -2);
	assert_int_equal(hosted.ra_words, -1);
	assert_int_equal(hosted.reg, 0);
	assert_false(is_host(ENTERING(LESS_ROOM, "rsp, 0")));
	assert_false(is_host(ENTERING(GHCS_ROOM, "rbp, 0"))); /* 16400 above rsp */
	assert_true(is_host(ENTRY("ruby_run_node", "function") EXIT("ruby_run_node")));
	assert_false(flags & UNWIND_HOST_OF_FILES);
}

/* A scheduler of Erlang's runtime: `call`, at 0x10100 - 5, and behind it what says that
 * this has returned, by a text. */
#define ERLANG(call, mention, text)                                                      \
	"enif_alloc\n.type enif_alloc, @function\nenif_alloc:\n.cfi_startproc\nret\n"    \
	".cfi_endproc\n.size enif_alloc, .-enif_alloc\n.p2align 4\nenter:\nud2\n"        \
	".p2align 4\nscheduler:\n.org 0x100 - 5\n" call "\nmov $-2, %edi\n"              \
	"xor %eax, %eax\n" mention "\ncall enter\n.section .rodata\n.skip 70000\n"       \
	".asciz \"Dirty scheduler\"\ntext: .asciz \"" text "\"\n"
#define MENTION	   "lea text(%rip), %rsi"
#define TERMINATED "Scheduler thread number %beu terminated\\n"

static void test_who_runs_erlang(void **state)
{
	assert_true(is_host(ERLANG("call enter", MENTION, TERMINATED)));
	assert_int_equal(hosted.cfa, UNWIND_CFA_REG);
	assert_int_equal(hosted.reg, 3);
	assert_int_equal(hosted.cfa_offset, 0x10100);
	assert_true(is_host(ERLANG("nop; nop; nop; call *%rax", MENTION, TERMINATED)));
	assert_int_equal(hosted.cfa_offset, 0x10100);
	/* where one piece ends that is read, and the next begins */
	assert_true(is_host(ERLANG("call enter\n.skip 130825, 0x90\ncall enter", MENTION,
				   TERMINATED)));
	assert_int_equal(hosted.cfa_offset, 0x10100 + 130825 + 5);
	/* no call, one to nowhere, or too far away */
	assert_false(is_host(ERLANG("nop", MENTION, TERMINATED)));
	assert_false(is_host(ERLANG("call enter + 1", MENTION, TERMINATED)));
	assert_false(is_host(ERLANG("call enter\n.skip 60, 0x90", MENTION, TERMINATED)));
	/* who says nothing, or something else */
	assert_false(is_host(ERLANG("call enter", "nop", TERMINATED)));
	assert_false(is_host(ERLANG("call enter", MENTION, "Dirty " TERMINATED)));
}

static void test_no_host(void **state)
{
	assert_false(is_host(ENTRY("execute", "function") BODY EXIT("execute")));
	assert_false(is_host(ENTRY("ruby_run_node", "object") EXIT("ruby_run_node")));
	/* who only calls it */
	assert_false(is_host(
		ENTRY("main", "function") "call ruby_run_node@plt\n" EXIT("main")));
	/* whose frame is not told */
	assert_false(is_host(ENTRY("other", "function")
				     EXIT("other") ".globl execute_ex\n"
						   ".type execute_ex, @function\n"
						   "execute_ex: .skip 400, 0x90\n"
						   ".size execute_ex, .-execute_ex\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_the_frame_of_its_interpreter),
		cmocka_unit_test(test_on_one_by_frame_pointer),
		cmocka_unit_test(test_on_a_frame_of_its_own),
		cmocka_unit_test(test_enters_what_lies_in_files),
		cmocka_unit_test(test_who_runs_erlang),
		cmocka_unit_test(test_no_host),
	};

#ifndef __x86_64__
	print_message("none of these is known there\n");
	return 0;
#endif
	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
