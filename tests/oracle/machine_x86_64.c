// SPDX-License-Identifier: BSD-2-Clause
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

const unsigned int machine_jump_and_call = 10;
const bool machine_tells_switch;
const unsigned int machine_no_cfi_min = 16;
const bool machine_fp_gives_sp = true;

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

bool machine_start(struct tracer *t, const char *path)
{
	t->pid = fork();
	if (!t->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	if (t->pid < 0 || waitpid(t->pid, NULL, 0) < 0 || !go(t, PTRACE_CONT, 0) ||
	    !get_registers(t))
		return false;
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_EXITKILL);
	return true;
}

bool machine_step(struct tracer *t, int signal)
{
	return go(t, PTRACE_SINGLESTEP, signal) && get_registers(t);
}

void machine_stop(struct tracer *t)
{
	if (t->pid <= 0)
		return;
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
}

enum effect machine_effect(const struct tracer *t)
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

bool machine_call(const struct tracer *t, struct activation *ret)
{
	*ret = (struct activation){ .cfa = t->sp + 8 };
	return tracer_read(t, &ret->ra, sizeof(ret->ra), t->sp);
}

bool machine_is_frame(const struct truth_frame *frame, uint64_t fp)
{
	return fp == (frame->cfa ? frame->cfa - 16 : 0);
}
