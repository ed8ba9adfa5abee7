// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_fp.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#include <string.h>

#define WINDOW_BYTES  (64u << 10)
#define UNCOVERED_MAX 512 /* of start files: _init, and what calls destructors */
#define PADDING_MAX   16  /* bytes between functions, which call nobody */
#define NUMBER_BYTES  4	  /* of a mov of a system call's */

/* A piece of the file's code, that moves up through it. */
struct code_window {
	struct elf_file *file;
	uint64_t vaddr;
	size_t n;
	uint8_t bytes[WINDOW_BYTES];
};

struct proof {
	struct code_window window;
	uint64_t uncovered; /* bytes of gaps that call */
	bool restores;	    /* some code does, that no entry tells of */
};

enum verdict { QUIET, CALLS, UNREADABLE };

/* At least an instruction's bytes, if the file has so many. */
static const uint8_t *code_at(struct code_window *window, uint64_t vaddr, size_t *ret_n)
{
	uint64_t into = vaddr - window->vaddr, offset, n;

	if (vaddr < window->vaddr || into + X86_INSN_MAX > window->n) {
		*ret_n = 0;
		window->n = 0;
		if (!elf_file_offset(window->file, vaddr, &offset, &n))
			return NULL;
		n = n < WINDOW_BYTES ? n : WINDOW_BYTES;
		if (elf_file_read(window->file, offset, window->bytes, n))
			return NULL;
		window->vaddr = vaddr;
		window->n = n;
		into = 0;
	}
	*ret_n = window->n - into;
	return window->bytes + into;
}

/* Reads instructions until one calls, or comes back from another stack: what was left
 * there goes on behind a jump. */
static enum verdict look_at(struct code_window *window, const struct unwind_span *span)
{
	uint64_t at = span->begin;

	while (at < span->end) {
		const uint8_t *code;
		size_t n;
		bool calls;

		code = code_at(window, at, &n);
		if (n > span->end - at)
			n = span->end - at;
		n = code ? x86_insn_bytes(code, n, &calls) : 0;
		if (!n)
			return UNREADABLE;
		if (calls || x86_effect(code, n).sp == X86_SP_TAKEN)
			return CALLS;
		at += n;
	}
	return QUIET;
}

/* Does a signal handler return there? The frame was made by the kernel, and the frame
 * pointer is that of whom the signal interrupted, who would be passed over. Byte by byte,
 * since data may lie before it. */
static bool restores(struct code_window *window, const struct unwind_span *span)
{
	for (uint64_t at = span->begin; at < span->end; at++) {
		size_t n;
		const uint8_t *code = code_at(window, at, &n);

		if (!code)
			return false;
		if (n >= NUMBER_BYTES + 2 && span->end - at >= NUMBER_BYTES + 2 &&
		    x86_insn_leaves_handler(code, NUMBER_BYTES, 2))
			return true;
	}
	return false;
}

static bool keeps(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_FP && rule->cfa_offset == 16 &&
	       rule->fp == UNWIND_FP_CFA && rule->fp_words == -2;
}

/* No entry covers it; what is told of it was read off the code. */
static bool is_gap(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_NONE || rule->cfa == UNWIND_CFA_CLONE ||
	       (rule->cfa <= UNWIND_CFA_SIZED &&
		(rule->reg == UNWIND_BY_CODE || rule->reg == UNWIND_GUESSED));
}

static bool does_no_harm(const struct unwind_rule *rule)
{
	return keeps(rule) || rule->cfa == UNWIND_CFA_PLT || rule->cfa == UNWIND_CFA_END;
}

/* Does it lead to another stack's frame, for which this one's frame pointer stands? So
 * do first frames of fibers; and gcc's realigned frames don't. */
static bool leads_away(const struct unwind_rule *rule)
{
	if (rule->cfa >= UNWIND_CFA_DEREF_SP && rule->cfa <= UNWIND_CFA_DEREF_TWICE)
		return rule->fp != UNWIND_FP_DEREF;
	return rule->cfa <= UNWIND_CFA_FP && rule->reg == UNWIND_LEADS;
}

/* Most files of a distribution keep none: they are told by the table alone. */
static bool could_be(unwind_spans next, void *arg)
{
	uint64_t kept = 0, others = 0;
	struct unwind_span span;

	while (next(arg, &span)) {
		if (span.rule->cfa == UNWIND_CFA_NONE)
			continue;
		if (keeps(span.rule))
			kept += span.end - span.begin;
		else
			others += span.end - span.begin;
	}
	return kept > others;
}

/* Of code that no entry covers, which the loader may not even map to its end. */
static void look_at_gap(struct proof *proof, uint64_t begin, uint64_t end)
{
	const struct unwind_span gap = { .begin = begin, .end = end };

	if (begin >= end)
		return;
	proof->restores |= restores(&proof->window, &gap);
	if (end - begin >= PADDING_MAX && look_at(&proof->window, &gap) != QUIET)
		proof->uncovered += end - begin;
}

/* The code before the first span and behind the last one. */
static void look_outside(struct proof *proof, uint64_t begin, uint64_t end)
{
	const struct elf_file *file = proof->window.file;

	for (size_t i = 0; i < file->n_phdrs; i++) {
		const Elf64_Phdr *ph = &file->phdrs[i];
		uint64_t last = ph->p_vaddr + ph->p_filesz;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		look_at_gap(proof, ph->p_vaddr, last < begin ? last : begin);
		look_at_gap(proof, ph->p_vaddr > end ? ph->p_vaddr : end, last);
	}
}

/* What lies behind a segment's last byte isn't there. */
static uint64_t end_of_code(struct proof *proof, const struct unwind_span *span)
{
	uint64_t offset, n;

	if (!elf_file_offset(proof->window.file, span->begin, &offset, &n))
		return span->begin;
	return n < span->end - span->begin ? span->begin + n : span->end;
}

/* A span that the file tells of itself. */
static bool is_proven_in(struct proof *proof, const struct unwind_span *span)
{
	if (span->rule->cfa == UNWIND_CFA_SIGNAL || leads_away(span->rule))
		return false; /* it calls nobody and has a callee */
	return does_no_harm(span->rule) || (look_at(&proof->window, span) == QUIET &&
					    !restores(&proof->window, span));
}

static bool is_refuted(const struct proof *proof)
{
	return proof->restores || proof->uncovered > UNCOVERED_MAX;
}

static bool is_proven(struct proof *proof, unwind_spans next, void *arg)
{
	uint64_t begin = UINT64_MAX, end = 0, covered = 0, gap_end = 0;
	struct unwind_span span;
	bool proven = true;

	/* to the end, so that the spans begin anew */
	while (next(arg, &span)) {
		if (begin == UINT64_MAX)
			begin = covered = span.begin;
		end = span.end;
		if (!proven)
			continue;
		if (is_gap(span.rule)) {
			gap_end = end_of_code(proof, &span);
			continue;
		}
		look_at_gap(proof, covered, gap_end);
		covered = span.end;
		proven = is_proven_in(proof, &span) && !is_refuted(proof);
	}
	if (proven) {
		look_at_gap(proof, covered, gap_end);
		look_outside(proof, begin, end);
	}
	return proven && !is_refuted(proof);
}

bool unwind_fp_is_kept(struct elf_file *file, unwind_spans next, void *arg)
{
	AUTO_FREE struct proof *proof = NULL;
	bool kept;

	if (file->header.e_machine != EM_X86_64 || !could_be(next, arg))
		return false;
	proof = malloc(sizeof(*proof));
	if (!proof) {
		elf_file_stop_recording(file);
		return false;
	}
	proof->uncovered = 0;
	proof->restores = false;
	proof->window.file = file;
	proof->window.vaddr = proof->window.n = 0;
	kept = is_proven(proof, next, arg);
	error_clear(); /* what can't be read is no proof */
	return kept;
}
