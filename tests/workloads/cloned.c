// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread made by clone() in inline assembly, as sanitizers and crash reporters make
 * theirs. It begins in the middle of a function, whose call frame information is true of
 * its maker alone: the frame pointer is still the maker's, and behind the end of its own
 * stack lies whatever lies there, here an address in the maker's caller.
 *
 *	cloned MS
 *
 * Thread:  make_thread;body;burn, begun by no one
 *	    main;make;make_thread  main;make;sys_call
 */
#include "work.h"

#include <sched.h>

#define STACK_WORDS 8192
#define WORDS_ABOVE 512

static void *stack[STACK_WORDS + WORDS_ABOVE] __attribute__((aligned(16)));

FN void burn(void)
{
	spin(3600);
}

FN void body(void)
{
	for (;;)
		burn();
}

/* There is nobody it could return to, so what the kernel says is not looked at. */
FN void make_thread(void (*first)(void), void **top)
{
	register unsigned long flags __asm__(
#if defined(__x86_64__)
		"rdi")
#else
		"x0")
#endif
		= CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		  CLONE_SYSVSEM;

	WITH_FRAME();
	*--top = NULL;
	*--top = (void *)first;
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "mov %2, %%eax\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "pop %%rax\n\t"
			 "call *%%rax\n\t"
			 "mov %%rax, %%rdi\n\t"
			 "mov %3, %%eax\n\t"
			 "syscall\n"
			 "1:"
			 :
			 : "r"(top), "r"(flags), "i"(SYS_clone), "i"(SYS_exit)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r10", "r11", "memory");
#else
	__asm__ volatile("mov x1, %0\n\t"
			 "mov x2, xzr\n\t"
			 "mov x3, xzr\n\t"
			 "mov x4, xzr\n\t"
			 "mov x8, %2\n\t"
			 "svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "ldr x1, [sp], #16\n\t"
			 "blr x1\n\t"
			 "mov x8, %3\n\t"
			 "svc #0\n"
			 "1:"
			 :
			 : "r"(top), "r"(flags), "i"(SYS_clone), "i"(SYS_exit)
			 : "x1", "x2", "x3", "x4", "x8", "x30", "memory");
#endif
	AFTER();
}

FN void make(void)
{
	for (int i = 0; i < WORDS_ABOVE; i++)
		stack[STACK_WORDS + i] = __builtin_return_address(0);
	make_thread(body, stack + STACK_WORDS);
	for (;;)
		sys_call(SYS_ppoll, 0, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage("cloned", "MS");
	work_ready();
	work_lifetime(argv[1]);
	make();
	AFTER();
	return 0;
}
