/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a file keeps frame pointers, proven from its table and its code: no
 * call lies where the table says anything but "the CFA is fp + 16, and below it
 * lie the return address and the caller's fp". So a caller can be stepped from by
 * its frame pointer alone. Prologues, epilogues and leaves may say what they like,
 * since nothing is called there; so may PLTs and a thread's start. But no code may
 * switch stacks there, nor may a rule lead to another stack.
 *
 * Of code that no entry covers, no more may call than the C run-time's start
 * files have. Only x86-64: an arm64 frame record lies anywhere in its frame, so
 * a step by it yields no CFA. In doubt the answer is no.
 */
#ifndef WEFT_UNWIND_UNWIND_FP_H
#define WEFT_UNWIND_UNWIND_FP_H

#include "obj/elf_file.h"
#include "shared/unwind.h"

#include <stdbool.h>

/* Code under one rule: [begin, end), from one instruction's start to another's. */
struct unwind_span {
	uint64_t begin, end;
	const struct unwind_rule *rule;
};

/* Gives a file's spans in order of address, then false, then begins anew. */
typedef bool (*unwind_spans)(void *arg, struct unwind_span *ret);

bool unwind_fp_is_kept(struct elf_file *file, unwind_spans next, void *arg);

#endif
