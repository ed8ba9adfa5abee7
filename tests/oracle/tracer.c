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
	if (!t->shadow_addr)
		t->shadow_addr = regs.rdi; /* its first word to us */
	return true;
}

/* Runs on until it stops by itself or by our step; false: it has ended. */
static bool go(struct tracer *t, int how)
{
	int status;

	if (ptrace(how, t->pid, NULL, NULL))
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
	if (t->pid < 0 || waitpid(t->pid, NULL, 0) < 0 || !go(t, PTRACE_CONT) ||
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

enum effect { PLAIN, CALL, RETURN };

static enum effect effect_of(const struct tracer *t)
{
	const unsigned char *at = t->text + (t->pc - t->shadow.text);

	while (*at == 0x66 || *at == 0xf2 || *at == 0xf3 || (*at & 0xf0) == 0x40)
		at++;
	if (*at == 0xe8 || (*at == 0xff && (at[1] >> 3 & 7) == 2))
		return CALL;
	return *at == 0xc3 || *at == 0xc2 ? RETURN : PLAIN;
}

static int stack_of(const struct tracer *t, uint64_t sp)
{
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

static void follow(struct tracer *t, enum effect effect)
{
	struct stack *stack = &t->stacks[t->stack];
	struct activation act = { .cfa = t->sp + 8 };

	if (effect == CALL) {
		if (stack->n == ACTIVATIONS_MOST ||
		    !tracer_read(t, &act.ra, sizeof(act.ra), t->sp))
			t->flaw = "a call that leads too far";
		else
			stack->acts[stack->n++] = act;
		return;
	}
	if (stack->n < 2) {
		t->flaw = "a return without a call";
		return;
	}
	act = stack->acts[--stack->n];
	if (act.cfa != t->sp || act.ra != t->pc)
		t->flaw = "a return to where nobody called";
}

bool tracer_step(struct tracer *t)
{
	enum effect effect = effect_of(t);
	int to;

	if (!in_switch(t))
		t->left_at = t->pc;
	if (!go(t, PTRACE_SINGLESTEP) || !get_registers(t))
		return false;
	if (!tracer_read(t, &t->shadow, sizeof(t->shadow), t->shadow_addr) ||
	    t->pc < t->shadow.text || t->pc >= t->shadow.text_end) {
		t->flaw = "code outside of the program";
		return false;
	}
	to = stack_of(t, t->sp);
	if (to != t->stack)
		change_stack(t, to);
	else if (effect != PLAIN)
		follow(t, effect);
	return !t->flaw;
}
