/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks made by the C library, of a thread that lives on: what lies behind such a
 * stack's first function is no caller, whatever the registers and words there lead to.
 * byhand.c makes others.
 *
 *	fiber alive MS    makecontext() in a function that is still on the thread's
 *	                  stack, so that its saved frame pointer leads on to main
 *	fiber gone MS     in one that has returned: to whoever lies there now
 *	fiber root MS     alive, and whoever resumes it has an async root
 *	fiber signal MS   a handler's alternate stack, which it returned from and was come
 *	                  back to by a jump; whom the signal interrupted is on its stack
 *	fiber storm MS    alive, and there and back without any work
 *
 * Thread:  entry;work;burn          whatever resumes: main;turns;burn
 */
#include "hops.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#define STACK_BYTES (64 * 1024)

static ucontext_t fiber, resumer;
static char stack[STACK_BYTES] __attribute__((aligned(16)));
static char other[STACK_BYTES] __attribute__((aligned(16)));
static void (*volatile leave)(void);
static jmp_buf there, back;

FN void burn(void)
{
	spin(3600);
}

FN void work(void)
{
	for (int i = 0; i < 10; i++)
		burn();
	AFTER();
}

FN void leave_context(void)
{
	swapcontext(&fiber, &resumer);
	AFTER();
}

FN void entry(void)
{
	for (;;) {
		work();
		leave();
	}
}

FN void make(void)
{
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &resumer;
	makecontext(&fiber, entry, 0);
	AFTER();
}

FN void make_below(int n)
{
	char room[64];

	__asm__ volatile("" ::"r"(room) : "memory");
	if (n)
		make_below(n - 1);
	else
		make();
	AFTER();
}

FN void turns_context(void)
{
	leave = leave_context;
	for (;;) {
		burn();
		swapcontext(&resumer, &fiber);
	}
}

/* The frame that the stack was made in is on it still, and its caller. */
FN void turns_here(void)
{
	leave = leave_context;
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &resumer;
	makecontext(&fiber, entry, 0);
	for (;;) {
		burn();
		swapcontext(&resumer, &fiber);
	}
}

FN void turns_gone(void)
{
	make_below(8);
	turns_context();
	AFTER();
}

FN void turns_root(struct weft_frame *leaf)
{
	WEFT_ROOT_SCOPE(leaf);
	turns_here();
	AFTER();
}

FN void leave_signal(void)
{
	if (!_setjmp(there))
		_longjmp(back, 1);
	AFTER();
}

FN void begin(int signal)
{
	if (signal != SIGUSR2 || !_setjmp(there))
		return;
	entry();
	AFTER();
}

FN void turns_signal(void)
{
	struct sigaction action = { .sa_handler = begin, .sa_flags = SA_ONSTACK };
	stack_t its = { .ss_sp = other, .ss_size = sizeof(other) };
	long pid = sys_call(SYS_getpid, 0, 0, 0, 0, 0);

	leave = leave_signal;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&its, NULL);
	sys_call(SYS_tgkill, pid, pid, SIGUSR2, 0, 0);
	its.ss_flags = SS_DISABLE;
	sigaltstack(&its, NULL);
	for (;;) {
		burn();
		if (!_setjmp(back))
			_longjmp(there, 1);
	}
}

FN void entry_storm(void)
{
	for (;;)
		swapcontext(&fiber, &resumer);
}

FN void turns_storm(void)
{
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &resumer;
	makecontext(&fiber, entry_storm, 0);
	for (;;)
		swapcontext(&resumer, &fiber);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	struct weft_frame frames[2];

	work_lifetime(argc > 2 ? argv[2] : NULL);
	work_ready();
	if (!strcmp(mode, "alive"))
		turns_here();
	else if (!strcmp(mode, "gone"))
		turns_gone();
	else if (!strcmp(mode, "storm"))
		turns_storm();
	else if (!strcmp(mode, "signal"))
		turns_signal();
	else if (!strcmp(mode, "root"))
		turns_root(hops_chain(frames, 2, 0, NULL));
	return work_usage(argv[0], "alive|gone|signal|root|storm MS");
}
