// SPDX-License-Identifier: BSD-2-Clause
/* The ground under the stepped program: its start, its pthread, its fibers. */
#include "program.h"

#define KEYS	    8
#define STACK_BYTES (128 << 10) /* so far apart that none passes for another */

extern char __executable_start[], etext[];
extern char switch_start[], switch_end[], fiber_bottom[], fiber_resumed[];

static void *slots[KEYS];

#define ADDR(what) ((uint64_t)(what))

volatile struct shadow shadow = {
	.key_addr = ADDR(&folly_async_stack_root_tls_key),
	.slots_addr = ADDR(slots),
	.text = ADDR(__executable_start),
	.text_end = ADDR(etext),
	.switch_start = ADDR(switch_start),
	.switch_end = ADDR(switch_end),
	.fiber_bottom = ADDR(fiber_bottom),
	.fiber_resumed = ADDR(fiber_resumed),
};

static unsigned int n_keys;
static struct weft_holder holder;

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	(void)destroy;
	if (n_keys == KEYS)
		return 1;
	*key = n_keys++;
	return 0;
}

int pthread_key_delete(pthread_key_t key)
{
	(void)key;
	return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
	return key < KEYS ? slots[key] : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (key >= KEYS)
		return 1;
	slots[key] = (void *)value;
	return 0;
}

/* One thread, one holder. */
void *calloc(size_t n, size_t bytes)
{
	return n * bytes == sizeof(holder) ? &holder : NULL;
}

void free(void *memory)
{
	(void)memory;
}

static char stacks[SHADOW_STACKS][STACK_BYTES] __attribute__((aligned(4096)));

/*
 * A stack's top, from above: where the switch goes on, the frame pointer of who
 * resumes (written by each resume), the bottom's address as the entry's return
 * address, and what the first switch pops.
 */
void fiber_make(struct fiber *fiber, int slot, void (*entry)(void))
{
	uint64_t *top = (uint64_t *)(stacks[slot] + STACK_BYTES);

	top[-1] = (uint64_t)fiber_resumed;
	top[-2] = 0;
	top[-3] = (uint64_t)fiber_bottom;
	top[-4] = (uint64_t)entry;
	top[-5] = (uint64_t)&top[-2];
	fiber->sp = (uint64_t)&top[-10];
	fiber->top = (uint64_t)top;
	shadow.stacks[slot].low = (uint64_t)stacks[slot];
	shadow.stacks[slot].top = (uint64_t)top;
	shadow.stacks[slot].entry = (uint64_t)entry;
	shadow.stacks[slot].generation++;
}

__asm__(".pushsection .text\n"
	".globl fiber_resume, fiber_suspend, switch_start, switch_end\n"
	".globl fiber_bottom, fiber_resumed\n"
	"switch_start:\n"
	"fiber_resume:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov 16(%rdi), %rax\n"
	"	mov %rbp, -16(%rax)\n"
	"	mov %rsp, 8(%rdi)\n"
	"	mov (%rdi), %rsp\n"
	"	jmp 1f\n"
	"fiber_suspend:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov 8(%rdi), %rsp\n"
	"fiber_resumed:\n"
	"1:	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"fiber_bottom:\n"
	"	ud2\n"
	"switch_end:\n"
	".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov $shadow, %edi\n"
	"	int3\n"
	"	call program\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n"
	"	syscall\n"
	".popsection\n");

void program(void);

NOINLINE void program(void)
{
	run_threads();
	run_fibers();
}
