// SPDX-License-Identifier: BSD-2-Clause
#include "tracer.h"

#include "host_bpf.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLERS_MOST 3 /* one interrupts the other */

static pid_t lent;

bool tracer_read(const struct tracer *t, void *to, size_t bytes, uint64_t from)
{
	struct iovec local = { to, bytes }, remote = { (void *)from, bytes };

	return process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

void tracer_lend_memory(const struct tracer *t)
{
	lent = t->pid;
}

bool read_user(void *to, __u32 bytes, __u64 from)
{
	struct tracer t = { .pid = lent };

	if (tracer_read(&t, to, bytes, from))
		return true;
	memset(to, 0, bytes);
	return false;
}

static bool get_registers(struct tracer *t)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &regs))
		return false;
	t->pc = regs.rip;
	t->sp = regs.rsp;
	t->fp = regs.rbp;
	memcpy(t->regs,
	       (uint64_t[]){ regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi,
			     regs.rbp, regs.rsp, regs.r8, regs.r9, regs.r10, regs.r11,
			     regs.r12, regs.r13, regs.r14, regs.r15 },
	       sizeof(t->regs));
	if (!t->shadow_addr)
		t->shadow_addr = regs.rdi; /* its first word to us */
	return true;
}

/* Runs on, with a signal or 0, until it stops by itself or by our step; false: it
 * has ended. */
static bool go(struct tracer *t, int how, long signal)
{
	int status;

	if (ptrace(how, t->pid, NULL, signal))
		return false;
	while (waitpid(t->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	if (WIFEXITED(status)) {
		t->pid = 0;
		if (WEXITSTATUS(status))
			t->flaw = "the program failed";
		return false;
	}
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
		t->flaw = "the program met a signal";
		return false;
	}
	return true;
}

/* The two take turns: waking another CPU for each would cost most of the time. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

bool tracer_start(struct tracer *t, const char *path)
{
	size_t bytes;

	memset(t, 0, sizeof(*t));
	stay_on_this_cpu();
	t->pid = fork();
	if (!t->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	t->flaw = "it does not start";
	if (t->pid < 0 || waitpid(t->pid, NULL, 0) < 0 || !go(t, PTRACE_CONT, 0) ||
	    !get_registers(t) ||
	    !tracer_read(t, &t->shadow, sizeof(t->shadow), t->shadow_addr))
		return false;
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_EXITKILL);
	bytes = t->shadow.text_end - t->shadow.text;
	t->text = calloc(1, bytes + 16);
	if (!t->text || !tracer_read(t, t->text, bytes, t->shadow.text))
		return false;
	t->stack = t->previous = MAIN_STACK;
	t->stacks[MAIN_STACK].n = 1; /* _start */
	t->flaw = NULL;
	return true;
}

void tracer_stop(struct tracer *t)
{
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	free(t->text);
	t->text = NULL;
}

enum effect { PLAIN, CALL, RETURN, SYSCALL };

static enum effect effect_of(const struct tracer *t)
{
	const unsigned char *at = t->text + (t->pc - t->shadow.text);

	while (*at == 0x66 || *at == 0xf2 || *at == 0xf3 || (*at & 0xf0) == 0x40)
		at++;
	if (*at == 0xe8 || (*at == 0xff && (at[1] >> 3 & 7) == 2))
		return CALL;
	if (*at == 0x0f && at[1] == 0x05)
		return SYSCALL;
	return *at == 0xc3 || *at == 0xc2 ? RETURN : PLAIN;
}

static int stack_of(const struct tracer *t, uint64_t sp)
{
	if (sp > t->shadow.other_low && sp <= t->shadow.other_top)
		return t->stack; /* a handler's, on top of what it interrupted */
	for (int i = 0; i < SHADOW_STACKS; i++) {
		if (sp > t->shadow.stacks[i].low && sp <= t->shadow.stacks[i].top)
			return i;
	}
	return MAIN_STACK;
}

/* A stack's first frame returns to its resumer, behind the jump to the switch and
 * the call there that nobody executes. */
#define JUMP_AND_CALL 10

static bool in_switch(const struct tracer *t)
{
	return t->pc >= t->shadow.switch_start && t->pc < t->shadow.switch_end;
}

/* The stack pointer has been moved to another stack. */
static void change_stack(struct tracer *t, int to)
{
	struct stack *stack = &t->stacks[to];

	t->previous = t->stack;
	t->stack = to;
	if (t->previous != MAIN_STACK && t->stacks[t->previous].resumer == to)
		return; /* back to who resumed it */
	if (to == MAIN_STACK) {
		t->flaw = "a stack that nobody resumed";
		return;
	}
	if (stack->generation != t->shadow.stacks[to].generation) {
		stack->generation = t->shadow.stacks[to].generation;
		stack->n = 1;
	}
	stack->acts[0].cfa = t->shadow.stacks[to].top;
	stack->acts[0].ra = t->left_at + JUMP_AND_CALL;
	stack->resumer = t->previous;
}

static void push(struct tracer *t, struct activation act)
{
	struct stack *stack = &t->stacks[t->stack];

	if (stack->n == ACTIVATIONS_MOST)
		t->flaw = "a call that leads too far";
	else
		stack->acts[stack->n++] = act;
}

static void pop(struct tracer *t, bool signal)
{
	struct stack *stack = &t->stacks[t->stack];
	struct activation act;

	if (stack->n < 2) {
		t->flaw = "a return without a call";
		return;
	}
	act = stack->acts[--stack->n];
	if (act.cfa != t->sp || act.ra != t->pc || act.signal != signal)
		t->flaw = "a return to where nobody called";
}

/* A stack pointer moved over whole frames: they are no more. */
static void jump(struct tracer *t)
{
	struct stack *stack = &t->stacks[t->stack];

	while (stack->n > 1 && stack->acts[stack->n - 1].cfa <= t->sp)
		stack->n--;
}

static void follow(struct tracer *t, enum effect effect)
{
	struct activation act = { .cfa = t->sp + 8 };

	switch (effect) {
	case CALL:
		if (!tracer_read(t, &act.ra, sizeof(act.ra), t->sp))
			t->flaw = "a call that can't be read";
		push(t, act);
		break;
	case RETURN:
		pop(t, false);
		break;
	case SYSCALL:
		if (!tracer_top(t)->signal)
			break;
		pop(t, true);
		t->handlers--;
		break;
	case PLAIN:
		if (t->pc >= t->shadow.jump_start && t->pc < t->shadow.jump_end)
			jump(t);
	}
}

/* Instead of one instruction, a handler's frame on top of where it stands. */
static bool interrupt(struct tracer *t)
{
	bool other = t->signalled++ % 2;
	struct activation interrupted = { t->sp, t->pc, 1 };
	struct activation handler = { .ra = t->shadow.restorers[other] };
	uint64_t ra;

	if (!go(t, PTRACE_SINGLESTEP, other ? SIGUSR2 : SIGUSR1) || !get_registers(t))
		return false;
	handler.cfa = t->sp + 8;
	if (t->pc != t->shadow.handler || !tracer_read(t, &ra, sizeof(ra), t->sp) ||
	    ra != handler.ra)
		t->flaw = "a signal that comes to nothing";
	t->handlers++;
	t->at_handler = true;
	push(t, interrupted);
	push(t, handler);
	return !t->flaw;
}

static bool is_time_for_signal(const struct tracer *t)
{
	return t->signal_every && t->shadow.signals && t->handlers < HANDLERS_MOST &&
	       !t->at_handler && t->steps % t->signal_every == 0;
}

bool tracer_step(struct tracer *t)
{
	enum effect effect = effect_of(t);
	int to;

	if (!in_switch(t) && !t->handlers)
		t->left_at = t->pc;
	t->steps++;
	if (is_time_for_signal(t))
		return interrupt(t);
	t->at_handler = false;
	if (!go(t, PTRACE_SINGLESTEP, 0) || !get_registers(t))
		return false;
	if (!tracer_read(t, &t->shadow, sizeof(t->shadow), t->shadow_addr) ||
	    t->pc < t->shadow.text || t->pc >= t->shadow.text_end) {
		t->flaw = "code outside of the program";
		return false;
	}
	to = stack_of(t, t->sp);
	if (to != t->stack)
		change_stack(t, to);
	else
		follow(t, effect);
	return !t->flaw;
}
