// SPDX-License-Identifier: BSD-2-Clause
/*
 * What moves a stack pointer besides plain calls: alloca, realigned frames,
 * jumps out of functions, procedure linkage stubs, signal handlers. And frames
 * that end where rbx says, whoever saves that meanwhile.
 */
#include "program.h"

#include <signal.h>
#include <sys/syscall.h>

#define OTHER_BYTES (64 << 10)
#define SA_RESTORER 0x04000000 /* <asm/signal.h> */

static volatile int sink;
static char other_stack[OTHER_BYTES] __attribute__((aligned(4096)));

NOINLINE static int leaf(int n)
{
	return sink + n;
}

NOINLINE static int handle_deeper(int n)
{
	volatile char room[200];

	room[n] = (char)n;
	return leaf(n) + room[n];
}

NOINLINE static void handle(int signal)
{
	sink = handle_deeper(signal) + 1;
}

static void signal_begin(int signal, char *restorer, unsigned long flags)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		char *restorer;
		unsigned long mask;
	} action;

	action.handler = handle;
	action.flags = SA_RESTORER | SA_NODEFER | flags;
	action.restorer = restorer;
	action.mask = 0;
	call_kernel(SYS_rt_sigaction, signal, &action, 0, sizeof(action.mask));
}

void signals_begin(void)
{
	struct {
		char *at;
		int flags;
		unsigned long bytes;
	} other;

	other.at = other_stack;
	other.flags = 0;
	other.bytes = OTHER_BYTES;
	call_kernel(SYS_sigaltstack, (long)&other, NULL, 0, 0);
	signal_begin(SIGUSR1, restorer_told, 0);
	signal_begin(SIGUSR2, restorer_bare, SA_ONSTACK);
	shadow.handler = (uint64_t)handle;
	shadow.restorers[0] = (uint64_t)restorer_told;
	shadow.restorers[1] = (uint64_t)restorer_bare;
	shadow.other_low = (uint64_t)other_stack;
	shadow.other_top = (uint64_t)(other_stack + OTHER_BYTES);
	shadow.signals = 1;
}

NOINLINE static int with_alloca(int n)
{
	volatile char *room = __builtin_alloca(16 * n + 1);

	room[n] = 1;
	return leaf(n) + room[n];
}

#ifdef FRAME_POINTERS_ALONE
/* gcc keeps the frame record of a realigned frame elsewhere than others'. */
#define REALIGNED(n)
#else
#define REALIGNED(n) __attribute__((aligned(n)))
#endif

NOINLINE static int realigned(int n)
{
	volatile char room[64] REALIGNED(64);

	room[n] = (char)n;
	return leaf(n) + room[n] + with_alloca(n);
}

NOINLINE static int realigned_with_alloca(int n, int b, int c, int d, int e, int f, int g)
{
	volatile char room[128] REALIGNED(128);
	volatile char *more = __builtin_alloca(16 * n + 1);

	more[n] = room[n] = (char)n;
	return realigned(n) + more[n] + room[n] + leaf(b + c + d + e + f + g);
}

#if defined(__x86_64__) && !defined(__clang__)
/* Behind a function within another gcc keeps the old stack in a register that its caller
 * has, too. */
NOINLINE static int realigned_within(int n)
{
	volatile int more = n;

	NOINLINE int within(int i)
	{
		volatile char room[64] REALIGNED(64);
		volatile char *rest = __builtin_alloca(16 * i + 1);

		rest[i] = room[i] = (char)more;
		return leaf(i) + rest[i] + room[i];
	}
	return within(n) + leaf(more);
}
#else
static int realigned_within(int n)
{
	return n;
}
#endif

static struct jump jump;

/* The last thing it does is a call: what it returns to is another's code. */
NOINLINE static void leave_by_jump(int n)
{
	sink = leaf(n);
	jump_back(&jump);
}

NOINLINE static int go_down(int n)
{
	if (n < 0)
		return leaf(n);
	if (!n)
		leave_by_jump(n);
	return go_down(n - 1) + leaf(n);
}

NOINLINE static void jump_out(int n)
{
	if (!jump_set(&jump))
		sink = go_down(n);
	sink = with_alloca(n);
}

NOINLINE static int linked_one(int n)
{
	return sink + n;
}

NOINLINE static int linked_other(int n)
{
	return leaf(n) - 1;
}

__attribute__((used)) static int (*choose_one(void))(int)
{
	return linked_one;
}

__attribute__((used)) static int (*choose_other(void))(int)
{
	return linked_other;
}

/* Each call of these goes through a stub of the linker's. */
int by_stub(int n) __attribute__((ifunc("choose_one")));
int by_other_stub(int n) __attribute__((ifunc("choose_other")));

NOINLINE static void stubs(int n)
{
	int (*volatile through)(int) = by_stub;

	sink = by_stub(n) + by_other_stub(n) + through(n);
}

#if defined(__x86_64__) && !defined(FRAME_POINTERS_ALONE)
/* As a dynamic linker's code that binds a function: any frame pointer, a stack of
 * its own alignment, and rbx to find back by. */
int by_rbx(int n);
__asm__(".pushsection .text\n"
	"by_rbx:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register %rbx\n"
	"	and $-64, %rsp\n"
	"	sub $320, %rsp\n"
	"	mov $-1, %rbp\n"
	"	call keep_rbx\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".popsection\n");

/* It has nothing of its own in rbx while it calls; its callees do. */
__attribute__((used)) NOINLINE int keep_rbx(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) /* across calls: in registers that are saved */
		sum += leaf(i) + with_alloca(i);
	if (n & 1)
		sum += realigned(n);
	return n > 2 ? sum + by_rbx(n - 2) : sum;
}
#else /* no other register is followed on arm64 */
static int by_rbx(int n)
{
	return n;
}
#endif

void run_ways(void)
{
	for (int i = 0; i < 8; i++) {
		sink = with_alloca(i) + realigned(i) +
		       realigned_with_alloca(i, 2, 3, 4, 5, 6, 7) + realigned_within(i);
		jump_out(i);
		stubs(i);
		sink = by_rbx(i);
	}
}
