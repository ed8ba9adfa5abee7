/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What files said of frames (sym/return_check.h), kept from window to window: code stays
 * what it is as long as its file does, and each look at it is some reads. What no window
 * has met in a while is let go, and what was met longest ago where there is much.
 */
#ifndef WEFT_SYM_CODE_VERDICTS_H
#define WEFT_SYM_CODE_VERDICTS_H

#include "core/aggregator.h"

struct code_verdict {
	bool is_bad_return; /* no call leads to it */
	bool is_switching;  /* from one stack to another (sym/switches.h), or copying */
	bool begins_copy;   /* of a stack (sym/copied_stacks.h) */
	bool is_aimed;	    /* its call is a direct one, to target (sym/call_pairs.h) */
	bool is_suspect;    /* perhaps there by chance (sym/bottoms.h) */
	uint64_t target;
	uint64_t begin; /* of the function that it is in; both as linked; 0: none */
};

struct code_verdicts;

int code_verdicts_new(struct code_verdicts **ret);
void code_verdicts_free(struct code_verdicts *verdicts);
DEFINE_FREEP(code_verdicts)

/* A frame of the module with this serial (core/module.h). False: not known. */
bool code_verdicts_recall(struct code_verdicts *verdicts, uint64_t serial,
			  const struct frame *frame, struct code_verdict *ret);
/* What is not known yet. 0 or -ENOMEM. */
int code_verdicts_keep(struct code_verdicts *verdicts, uint64_t serial,
		       const struct frame *frame, const struct code_verdict *verdict);

/* A window has been looked at. */
void code_verdicts_turn(struct code_verdicts *verdicts);

/* Lets all of them go; returns how many bytes they took. */
uint64_t code_verdicts_clear(struct code_verdicts *verdicts);

#endif
