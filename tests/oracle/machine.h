/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a program is stepped on one machine, and what an instruction there does to
 * the calls under way. machine_x86_64.c steps natively, by ptrace; machine_arm64.c
 * steps what qemu's user emulation runs, by its debugger's socket.
 */
#ifndef WEFT_TESTS_MACHINE_H
#define WEFT_TESTS_MACHINE_H

#include "truth.h"

enum effect { PLAIN, CALL, RETURN, SYSCALL };

/* Starts t->pid, up to the first instruction behind the program's word to us,
 * which is t->shadow_addr. */
bool machine_start(struct tracer *t, const char *path);

/*
 * One instruction; with a signal none, but up to the first of its handler. Then
 * reads the registers. False: the program has ended, or t->flaw says why not.
 */
bool machine_step(struct tracer *t, int signal);

/* Ends whatever machine_start() began. */
void machine_stop(struct tracer *t);

/* Of the instruction at t->pc. */
enum effect machine_effect(const struct tracer *t);

/* The call that has just been made, or a handler's first instruction. */
bool machine_call(const struct tracer *t, struct activation *ret);

/* From the jump to a switch to where it comes back. */
extern const unsigned int machine_jump_and_call;

/* Have tables a rule for the code that changes stacks? */
extern const bool machine_tells_switch;

/* Instructions of ways.c, at least, that nothing tells how to unwind. */
extern const unsigned int machine_no_cfi_min;

/* The walker's fp_gives_sp. */
extern const bool machine_fp_gives_sp;

/* Is this its frame pointer, once the function at hand has one? */
bool machine_is_frame(const struct truth_frame *frame, uint64_t fp);

#endif
