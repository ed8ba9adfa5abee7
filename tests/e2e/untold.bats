#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs of which no call frame information is written, or whose C library has none, and
# whose functions never return: a service's main(), and what calls it.

# shellcheck disable=SC2154 # set by faults.bash

load lib
load faults

make_service() {
	cat >service.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <sys/time.h>

		static volatile unsigned long sink;

		__attribute__((noinline)) void leaf(void)
		{
			unsigned long x = sink;

			for (int i = 0; i < 20000; i++)
				x = x * 3 + i;
			sink = x;
		}
		__attribute__((noinline)) void middle(int n)
		{
			while (n--)
				leaf();
			sink++;
		}
		__attribute__((noinline)) void recurse(int n)
		{
			if (n)
				recurse(n - 1);
			middle(5);
		}
		static void *serve(void *arg)
		{
			for (;;)
				middle(*(int *)arg);
		}
		static void handle(int signal)
		{
			for (int i = 0; i < 20; i++) /* so that samples fall there */
				leaf();
			sink += signal; /* the call is none of the tail's */
		}
		int main(void)
		{
			struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
			static int times = 3;
			pthread_t thread;

			pthread_create(&thread, 0, serve, &times);
			signal(SIGALRM, handle);
			setitimer(ITIMER_REAL, &often, 0);
			for (;;)
				recurse(3);
		}
	END
}

# NAME BEFORE_MAIN BEFORE_SERVE   patterns of what is above each
all_are_whole() {
	local inner='(;recurse)*(;middle)?(;leaf)?' restorer='(__restore_rt|[a-z.]+!0x[0-9a-f]+)'
	local handler="$restorer(;handle(;leaf)?)?"
	local main="$2main$inner(;$handler)?" serve="$3serve(;middle)?(;leaf)?(;$handler)?"

	start "./$1"
	record_while "$last_pid" 1000 -F 2999 -p "$last_pid" -o out --stats-json stats
	adds_up out stats
	# a system call's pc is behind it, which may be another function's
	grep -vF '_[k]' out | sed -E 's/ [0-9]+$//' | sort -u >stacks
	grep -qE "^$1;${2}main;recurse.*;leaf$" stacks
	[ -z "$3" ] || grep -qE "^$1;${3}serve;middle;leaf$" stacks
	grep -q ';handle' stacks
	if [ -n "$3" ]; then
		run grep -vE "^$1;($main|$serve)$" stacks
	else
		run grep -vE "^$1;($main|.*serve.*)$" stacks
	fi
	[ "$status" -eq 1 ] || { echo "$output"; false; }
}

# NAME: who begins threads is known, and that nobody called these: each stack is whole, but
# where an exit has taken it away already
threads_are_told() {
	start "./$1"
	record_while "$last_pid" 1000 -F 2999 -p "$last_pid" -o out --stats-json stats
	adds_up out stats
	grep -qE '(kernel_clone|copy_process).*_\[k\]' out
	grep -qE 'ret_from_fork.*_\[k\]' out
	run grep -E "(kernel_clone|copy_process).*_\[k\]" <(grep -vE "^$1;(.*;)?main;begin;" out)
	[ "$status" -eq 1 ] || { echo "$output"; false; }
	run grep -F '[cut]' <(grep -vF 'do_exit_[k]' out)
	[ "$status" -eq 1 ] || { echo "$output"; false; }
	run grep -E 'main.*ret_from_fork' out
	[ "$status" -eq 1 ] || { echo "$output"; false; }
}

# Ten cases that never come back: nothing but a table leads to them.
make_interpreter() {
	cat >switch.c <<-'END'
		#include <stdlib.h>

		static volatile unsigned long sink;

		#define WORK(n)                                        \
			__attribute__((noinline)) void work##n(void)   \
			{                                              \
				for (int i = 0; i < 5000; i++)         \
					sink = sink * 3 + n;           \
			}
		#define CASE(n)                   \
			case n:                   \
				for (;;) {        \
					work##n();\
					sink++;   \
					work##n();\
				}

		WORK(0) WORK(1) WORK(2) WORK(3) WORK(4)
		WORK(5) WORK(6) WORK(7) WORK(8) WORK(9)

		__attribute__((noinline)) void interpret(int op)
		{
			switch (op) {
				CASE(0) CASE(1) CASE(2) CASE(3) CASE(4)
				CASE(5) CASE(6) CASE(7) CASE(8) CASE(9)
			}
		}
		int main(int argc, char **argv)
		{
			interpret(atoi(argv[argc - 1]));
			return 0;
		}
	END
}

# NAME: the seventh case has its callers
case_is_told() {
	local before='_start;__libc_start_main[^;]*;__libc_start_call_main'

	objdump -d --no-show-raw-insn "$1" | grep -qE 'jmp +\*'
	start "./$1" 7
	record_while "$last_pid" 500 -F 2999 -p "$last_pid" -o out --stats-json stats
	adds_up out stats
	grep -vF '_[k]' out | sed -E 's/ [0-9]+$//' | sort -u >stacks
	grep -qE 'main;interpret;work7$' stacks
	run grep -vE "^$1;$before;main;interpret(;work7)?$" stacks
	[ "$status" -eq 1 ] || { echo "$output"; false; }
}

@test "a program of musl: from its library's first function on, threads and handlers too" {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	command -v musl-gcc >/dev/null || skip "no musl-gcc"
	make_service
	musl-gcc -O2 -o dynamic service.c \
		-Wl,--dynamic-linker="/usr/lib/$(uname -m)-linux-musl/libc.so"
	musl-gcc -O2 -static -o static service.c
	all_are_whole dynamic '_start;libc\.so!0x[0-9a-f]+;' \
		'libc\.so!0x[0-9a-f]+;libc\.so!0x[0-9a-f]+;'
	all_are_whole static '_start;libc_start_main_stage2;' '__clone;start;'
}

@test "a program without tables: main() never returns, and its calls say how deep it is" {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	make_service
	for compiler in gcc clang; do
		command -v "$compiler" >/dev/null || continue
		"$compiler" -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables \
			-pthread -o "by_$compiler" service.c
		all_are_whole "by_$compiler" '_start;__libc_start_main[^;]*;__libc_start_call_main;' ''
	done
}

@test "a program none of whose code has tables, that of its C library neither" {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	command -v musl-gcc >/dev/null || skip "no musl-gcc"
	make_service
	musl-gcc -O2 -static -o told service.c
	objcopy --strip-debug --remove-section .eh_frame told untold
	run readelf --debug-dump=frames untold
	[[ $output != *FDE* ]]
	# its serve() misaligns the stack, as gcc does if it knows all that is called
	all_are_whole untold '_start;libc_start_main_stage2;' ''
}

@test "a program without tables: what its switches lead to" {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	make_interpreter
	local flags=(-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables)
	for compiler in gcc clang; do
		command -v "$compiler" >/dev/null || continue
		"$compiler" "${flags[@]}" -o "by_$compiler" switch.c
		case_is_told "by_$compiler"
		"$compiler" "${flags[@]}" -fno-pie -no-pie -o "placed_by_$compiler" switch.c
		case_is_told "placed_by_$compiler"
	done
	# a nop behind each call, and tables among the code, as GraalVM has them
	gcc "${flags[@]}" -S switch.c
	sed -E 's/^\tcall\t.*/&\n\tnop/; s/^\t\.section\t\.rodata.*/\t.text/' switch.s >marked.s
	gcc -o marked marked.s
	case_is_told marked
}

@test "threads that are begun all the time, by glibc and by musl: nobody called them" {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	gcc -O2 -pthread -o glibc "$BATS_TEST_DIRNAME/begins.c"
	threads_are_told glibc
	command -v musl-gcc >/dev/null || skip "no musl-gcc"
	musl-gcc -O2 -o dynamic "$BATS_TEST_DIRNAME/begins.c" \
		-Wl,--dynamic-linker="/usr/lib/$(uname -m)-linux-musl/libc.so"
	threads_are_told dynamic
	musl-gcc -O2 -static -o static "$BATS_TEST_DIRNAME/begins.c"
	threads_are_told static
	objcopy --strip-debug --remove-section .eh_frame static untold
	threads_are_told untold
}

# As Debian 13's OpenBLAS, whose kernels are assembly: what lies before is mostly padding.
@test "code without call frame information behind more gaps than are looked at" {
	needs_recording
	[ "$(uname -m)" = x86_64 ] || skip "x86-64's assembly"
	cat >gaps.c <<-'END'
		__asm__(".text\n.p2align 6\n.rept 2000\n"
			".cfi_startproc\nret\n.cfi_endproc\n.p2align 6\n.endr\n"
			".globl bare\n.type bare, %function\nbare:\n"
			"sub $0x98, %rsp\nmov %rbx, (%rsp)\n.rept 64\nnop\n.endr\n"
			"call work\nmov (%rsp), %rbx\nadd $0x98, %rsp\nret\n"
			".size bare, . - bare\n");
		void bare(void);
		__attribute__((noinline)) void work(void)
		{
			for (volatile int i = 0; i < 600000000; i++)
				;
		}
		int main(void)
		{
			bare();
			return 0;
		}
	END
	cc -O1 -fomit-frame-pointer -o gaps gaps.c
	weft_in_time record -q -F 499 --unwind-cache none -o out -- ./gaps
	grep ';work' out >works
	grep -c ';main;bare;work' works
	run ! grep -v ';main;bare;work' works
}
