/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread as the storm walks it anew (storm_tables.c): the frame at hand. */
#ifndef WEFT_TESTS_PLAIN_H
#define WEFT_TESTS_PLAIN_H

#include "storm.h"

struct plain {
	const struct sampled *at;
	uint64_t pc, sp, fp, cfa;
	uint64_t signal; /* where the registers lie; 0: in the sample */
	uint64_t bx;	 /* if bx_is_known */
	uint64_t go_pc;	 /* of a goroutine that was found */
	bool bx_is_known;
	bool is_leaf, in_syscall;
	bool from_leaf;		 /* by its rule: registers are as they were at the call */
	unsigned int left_alone; /* and these are, whoever called since */
	bool sp_is_known;
	bool is_unproven; /* a frame pointer that nothing proves led here, or below */
	bool led;	  /* here, by the rule of the frame before */
	bool strays;	  /* a frame pointer led here from far away */
	enum step_kind step_kind;
	const struct unwind_rule *rule;
	unsigned int kind; /* how the frame is told */
};

/* An address of memory, without a signature; false: nothing is there. */
bool plain_word_at(uint64_t addr, uint64_t *ret);

/* By what Go's runtime keeps, as p->rule says. */
enum step_kind plain_look_at_goroutine(struct plain *p);

#endif
