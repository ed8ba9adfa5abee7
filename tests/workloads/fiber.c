/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks made by hand, of a thread that lives on: what lies behind such a stack's
 * first function is no caller, whatever the registers and words there lead to.
 *
 *	fiber alive MS    makecontext() in a function that is still on the thread's
 *	                  stack, so that its saved frame pointer leads on to main
 *	fiber gone MS     in one that has returned: to whoever lies there now
 *	fiber byhand MS   a switch in assembly; the first function's return address is
 *	                  the first byte of another, which no one called, and behind a
 *	                  call that does not return (x86-64)
 *	fiber thread MS   byhand, resumed by a thread that is not the first one
 *	fiber crossed MS  the stack's first code says in its call frame information
 *	                  where whoever resumed it goes on
 *	fiber called MS   a function that is called switches to the stack, as OCaml 5's:
 *	                  the word at the stack's end says where its resumer's sp lies
 *	fiber hops MS     called, there and back without any work; who goes there calls
 *	                  another function than who comes back
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

struct hand {
	void *sp, *back;
};

static ucontext_t fiber, resumer;
static struct hand hand;
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

#if defined(__x86_64__)
/* switch_hand(from, to): keeps the registers on this stack, takes those of the other */
void switch_hand(void **from, void *to);
void not_called(void);
void crossing(void);
/* switch_call(kept, top, first): calls it on a stack that ends there */
void switch_call(void **kept, void *top, void (*first)(void));
/* as switch_hand() */
void switch_there(void **from, void *to);
void switch_back(void **from, void *to);

#define SWITCH(name)                                                                     \
	".type " name ", %function\n" name ":\n.cfi_startproc\n"                         \
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"                   \
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"                                          \
	"push %r12\n.cfi_adjust_cfa_offset 8\n"                                          \
	"push %r13\n.cfi_adjust_cfa_offset 8\n"                                          \
	"mov %rsp, (%rdi)\n"                                                             \
	"mov %rsi, %rsp\n"                                                               \
	"pop %r13\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %r12\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\n"                       \
	"ret\n.cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".pushsection .text\n.p2align 4\n" SWITCH("switch_hand") SWITCH("switch_there")
		SWITCH("switch_back")
	/* the last thing that this does is a call, as of a function that aborts */
	".p2align 4\n.type gives_up, %function\ngives_up:\n.cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
	"call stops\n.cfi_endproc\n.size gives_up, . - gives_up\n"
	".type not_called, %function\nnot_called:\n.cfi_startproc\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall stops\n.cfi_endproc\n"
	".size not_called, . - not_called\n"
	".type stops, %function\nstops:\n.cfi_startproc\n"
	"ud2\n.cfi_endproc\n.size stops, . - stops\n"
	/* a stack begins here, with the resumer's sp in the word above */
	".p2align 4\n.type crosses, %function\ncrosses:\n.cfi_startproc\n"
	/* CFA: *sp + 40, behind what switch_hand() pushed; rbp lies there as well */
	".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 40\n"
	".cfi_offset %rbp, -16\n.cfi_offset %rip, -8\n"
	"nop\n.globl crossing\ncrossing:\nud2\n.cfi_endproc\n"
	".size crosses, . - crosses\n"
	".p2align 4\n.type switch_call, %function\nswitch_call:\n.cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"
	"push %r12\n.cfi_adjust_cfa_offset 8\n"
	"push %r13\n.cfi_adjust_cfa_offset 8\n"
	"mov %rsp, (%rdi)\n"
	"mov %rdi, -16(%rsi)\n"
	"lea -16(%rsi), %rsp\n"
	/* CFA: **sp + 40, as OCaml's assembly writes it */
	".cfi_escape 0x0f, 8, 0x77, 0, 0x06, 0x23, 0, 0x06, 0x23, 40\n"
	"call *%rdx\nud2\n.cfi_endproc\n"
	".size switch_call, . - switch_call\n.popsection\n");

FN void leave_hand(void)
{
	switch_hand(&hand.sp, hand.back);
	AFTER();
}

FN void make_hand(void *above, void *first_caller, void *fp)
{
	void **top = (void **)(other + sizeof(other));

	*--top = NULL;
	*--top = above;
	*--top = first_caller;
	*--top = (void *)entry;
	*--top = fp; /* as what copies all registers leaves it */
	for (int i = 0; i < 3; i++)
		*--top = NULL;
	hand.sp = top;
	leave = leave_hand;
}

FN void turns_hand(void)
{
	for (;;) {
		burn();
		switch_hand(&hand.back, hand.sp);
	}
}

FN void turns_byhand(void)
{
	make_hand(NULL, (void *)not_called, __builtin_frame_address(0));
	turns_hand();
	AFTER();
}

FN void leave_crossed(void)
{
	switch_hand(&hand.sp, ((void **)(other + sizeof(other)))[-2]);
	AFTER();
}

/* What leads on is where the resumer's sp is kept. */
FN void turns_crossed(void)
{
	void **kept = (void **)(other + sizeof(other)) - 2;

	make_hand(NULL, (void *)crossing, __builtin_frame_address(0));
	leave = leave_crossed;
	for (;;) {
		burn();
		switch_hand(kept, hand.sp);
	}
}

FN void turns_called(void)
{
	leave = leave_hand;
	switch_call(&hand.back, other + sizeof(other), entry);
	turns_hand();
	AFTER();
}

FN void entry_hops(void)
{
	for (;;)
		switch_back(&hand.sp, hand.back);
}

FN void turns_hops(void)
{
	switch_call(&hand.back, other + sizeof(other), entry_hops);
	for (;;)
		switch_there(&hand.back, hand.sp);
}

FN void *resume(void *unused)
{
	turns_byhand();
	AFTER();
	return unused;
}

#endif

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
#if defined(__x86_64__)
	else if (!strcmp(mode, "byhand"))
		turns_byhand();
	else if (!strcmp(mode, "thread"))
		pthread_join(work_thread(resume, NULL), NULL);
	else if (!strcmp(mode, "crossed"))
		turns_crossed();
	else if (!strcmp(mode, "called"))
		turns_called();
	else if (!strcmp(mode, "hops"))
		turns_hops();
#endif
	return work_usage(
		argv[0], "alive|gone|signal|byhand|thread|crossed|called|hops|root|storm "
			 "MS");
}
