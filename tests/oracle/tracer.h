/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps a program instruction by instruction and keeps its shadow stack, from
 * nothing but calls, returns and which stack the stack pointer is on: no frame
 * pointer and no table has a part in it.
 */
#ifndef WEFT_TESTS_TRACER_H
#define WEFT_TESTS_TRACER_H

#include "shadow.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ACTIVATIONS_MAX 256
#define MAIN_STACK	SHADOW_STACKS /* the one the kernel gave */

/* One call under way. */
struct activation {
	uint64_t cfa;	 /* the stack pointer once it has returned; 0: the first */
	uint64_t ra;	 /* where it returns to */
	uint64_t signal; /* the kernel made it: where the code at ra was interrupted */
};

struct stack {
	struct activation acts[ACTIVATIONS_MAX];
	size_t n;
	uint64_t generation;
	uint64_t sp;	/* as it was left */
	uint64_t place; /* where it goes on */
	int resumer;	/* the stack that this one was resumed from */
};

struct tracer {
	pid_t pid;
	int link; /* machine_arm64.c: to the emulator */
	uint64_t shadow_addr;
	struct shadow shadow; /* as of now */
	uint64_t pc, sp, fp;
	uint64_t lr;	   /* arm64 */
	uint64_t regs[16]; /* by DWARF's numbers */
	unsigned char *text;
	uint64_t steps;
	unsigned int signal_every; /* so many instructions; 0: never */
	unsigned int handlers;	   /* under way */
	uint64_t signalled;	   /* how often */
	bool at_handler;	   /* its first instruction: no stop for a signal */
	struct stack stacks[SHADOW_STACKS + 1];
	int stack;	  /* that it runs on */
	int previous;	  /* that it ran on before */
	uint64_t left_at; /* the last instruction outside of the switch */
	int left_on;	  /* and the stack that it ran on */
	const char *flaw; /* what this witness could not follow */
};

/* Starts a program and lets it run up to its first own instruction. */
bool tracer_start(struct tracer *t, const char *path);

/* One instruction; false: the program has ended, or t->flaw says why not. */
bool tracer_step(struct tracer *t);

/* Where that stack goes on, also while the switch still is on it. */
uint64_t tracer_place(const struct tracer *t, int stack);

static inline const struct activation *tracer_top(const struct tracer *t)
{
	return &t->stacks[t->stack].acts[t->stacks[t->stack].n - 1];
}

void tracer_stop(struct tracer *t);

bool tracer_read(const struct tracer *t, void *to, size_t bytes, uint64_t from);

/* Reads of the walker's from now on are reads of this process. */
void tracer_lend_memory(const struct tracer *t);

#endif
