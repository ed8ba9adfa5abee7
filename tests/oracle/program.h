/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stepped program. It has no libc, so that every instruction is its own:
 * what weft/async.h needs of one is in start.c.
 */
#ifndef WEFT_TESTS_PROGRAM_H
#define WEFT_TESTS_PROGRAM_H

#include "shadow.h"

#include "weft/fiber.h"

#define NOINLINE __attribute__((noinline))

struct task {
	struct weft_frame frame;
	struct shadow_task meant;
};

extern volatile struct shadow shadow;

/* A fiber on the stack of that slot. */
struct weft_fiber *fiber_make(int slot, weft_fiber_entry *entry);

/* asm_MACHINE.c: as setjmp(3) and longjmp(3). */
struct jump {
	uint64_t registers[13];
};
int jump_set(struct jump *jump) __attribute__((returns_twice));
void jump_back(struct jump *jump) __attribute__((noreturn));

/* asm_MACHINE.c: what handlers return to, the second without a word on it. */
extern char restorer_told[], restorer_bare[];

/* Of up to four arguments. */
long call_kernel(long number, long a, const void *b, long c, long d);

/* Installs what the tracer's signals come to. */
void signals_begin(void);

/* Between these two the shadow is armed; both inline, no call between. */
static inline __attribute__((always_inline)) void
shadow_arm(enum shadow_change change, void *fp, const struct task *task)
{
	shadow.change = change;
	shadow.fp = (uint64_t)fp;
	shadow.task = task ? (uint64_t)&task->meant : 0;
	__asm__ volatile("" ::: "memory");
	shadow.armed = 1;
	__asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void shadow_disarm(void)
{
	__asm__ volatile("" ::: "memory");
	shadow.armed = 0;
	__asm__ volatile("" ::: "memory");
}

void run_threads(void); /* plain calls, chains, roots, waits */
void run_fibers(void);
void run_ways(void); /* whatever else moves a stack pointer */
void run_bare(void); /* what nobody tells how to unwind */

#endif
