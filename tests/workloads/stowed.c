// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks that are copied, as greenlet's and PyPy's: two tasks and main() run on the same
 * addresses of the thread's stack, and who does not run is stowed away, up to a seam.
 * Above it main()'s frames are, now of these functions and now of others, which never
 * called what is below.
 *
 *	stowed each MS
 *	stowed storm MS     hardly anything but copies
 *
 * Thread:  begins;run_NAME;work;burn      main;turns;[deeper;]turn_NAME;burn
 */
#include "work.h"

#define KEPT_BYTES (64 * 1024)
#define ROOM	   4096 /* of a task's stack, that is copied with it */

/* 1: goes on as the task that is to run, which was never stowed; 0: is come back to */
int switch_stacks(void);

#if defined(__x86_64__)
__asm__(".pushsection .text\n.p2align 4\n"
	".type switch_stacks, %function\nswitch_stacks:\n.cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -24\n"
	"push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r12, -32\n"
	"push %r13\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r13, -40\n"
	"push %r14\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r14, -48\n"
	"push %r15\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r15, -56\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"mov %rsp, %rbx\n"
	"mov %rsp, %rdi\n"
	"call stows\n"
	"test %rax, %rax\n"
	"je 1f\n"
	"sub %rbx, %rax\n"
	"add %rax, %rsp\n"
	"add %rax, %rbp\n"
	"call brings_back\n"
	"xor %eax, %eax\n"
	"jmp 2f\n"
	"1: mov $1, %eax\n"
	"2: add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"pop %r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r15\n"
	"pop %r14\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r14\n"
	"pop %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r13\n"
	"pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\n"
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n"
	"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\n"
	"ret\n.cfi_endproc\n.size switch_stacks, . - switch_stacks\n.popsection\n");
#else
__asm__(".pushsection .text\n.p2align 4\n"
	".type switch_stacks, %function\nswitch_stacks:\n.cfi_startproc\n"
	"stp x29, x30, [sp, #-96]!\n.cfi_def_cfa_offset 96\n"
	".cfi_offset x29, -96\n.cfi_offset x30, -88\n"
	"mov x29, sp\n"
	"stp x19, x20, [sp, #16]\n"
	"stp x21, x22, [sp, #32]\n"
	"stp x23, x24, [sp, #48]\n"
	"stp x25, x26, [sp, #64]\n"
	"stp x27, x28, [sp, #80]\n"
	"mov x0, sp\n"
	"bl stows\n"
	"cbz x0, 1f\n"
	"mov sp, x0\n"
	"mov x29, x0\n"
	"bl brings_back\n"
	"mov w0, #0\n"
	"b 2f\n"
	"1: mov w0, #1\n"
	"2: ldp x19, x20, [sp, #16]\n"
	"ldp x21, x22, [sp, #32]\n"
	"ldp x23, x24, [sp, #48]\n"
	"ldp x25, x26, [sp, #64]\n"
	"ldp x27, x28, [sp, #80]\n"
	"ldp x29, x30, [sp], #96\n.cfi_restore x29\n.cfi_restore x30\n"
	".cfi_def_cfa_offset 0\n"
	"ret\n.cfi_endproc\n.size switch_stacks, . - switch_stacks\n.popsection\n");
#endif

/* Whose stack lies between sp and the seam, or is kept here while another's does. */
struct task {
	char *sp; /* NULL: it was never stowed */
	char kept[KEPT_BYTES];
};

static struct task main_task, one, other;
static struct task *running = &main_task, *next;
static char *seam;
static unsigned long burns = 3600;

/* word by word: a libc's function is none of this program's */
INLINE void copy(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long))
		*(volatile long *)(to + i) = *(const volatile long *)(from + i);
}

/* What of its stack others may write over. */
INLINE size_t bytes_of(const struct task *task)
{
	return task->sp < seam ? (size_t)(seam - task->sp) : 0;
}

/* Where the next one's stack ends; NULL: it goes on here. */
FN char *stows(char *sp)
{
	running->sp = sp;
	if (bytes_of(running) > KEPT_BYTES)
		_exit(3);
	copy(running->kept, sp, bytes_of(running));
	running = next;
	return next->sp;
}

FN void brings_back(void)
{
	copy(running->sp, running->kept, bytes_of(running));
}

FN int changes_to(struct task *task)
{
	int is_new;

	next = task;
	is_new = switch_stacks();
	AFTER();
	return is_new;
}

FN void burn(void)
{
	spin(burns);
}

FN void work(void)
{
	for (int i = 0; i < 10; i++)
		burn();
	AFTER();
}

#define USE(bytes) __asm__ volatile("" ::"r"(bytes) : "memory")

FN void run_one(void)
{
	char room[ROOM];

	USE(room);
	for (;;) {
		work();
		changes_to(&main_task);
	}
}

FN void run_on(void)
{
	char room[ROOM];

	USE(room);
	for (;;) {
		work();
		changes_to(&main_task);
	}
}

FN void run_other(void)
{
	run_on();
	AFTER();
}

/* Returns to main(), and never as the task. */
FN void begins(struct task *task, void (*run)(void))
{
	if (!changes_to(task))
		return;
	run();
	for (;;)
		changes_to(&main_task);
}

/* Who begins both has gone long since when they run. */
FN void makes(int n)
{
	char here[16] __attribute__((aligned(16)));

	USE(here);
	if (n) {
		makes(n - 1);
	} else {
		seam = here;
		begins(&one, run_one);
		begins(&other, run_other);
	}
	AFTER();
}

FN void turn_one(void)
{
	burn();
	changes_to(&one);
	AFTER();
}

FN void deeper(int n)
{
	char room[64];

	USE(room);
	if (n)
		deeper(n - 1);
	else
		turn_one();
	burn();
	AFTER();
}

FN void turn_other(void)
{
	burn();
	changes_to(&other);
	AFTER();
}

FN void turns(void)
{
	for (;;) {
		turn_one();
		turn_other();
		deeper(5);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[1], "each") && strcmp(argv[1], "storm")))
		return work_usage("stowed", "each|storm MS");
	work_lifetime(argv[2]);
	if (!strcmp(argv[1], "storm"))
		burns = 10;
	makes(3);
	work_ready();
	turns();
	return 0;
}
