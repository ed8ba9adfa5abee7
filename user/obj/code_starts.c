// SPDX-License-Identifier: BSD-2-Clause
#include "obj/code_starts.h"

#include "base/error.h"
#include "obj/arm64_insn.h"
#include "obj/x86_insn.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_ALIGN 16 /* what functions, and code behind data, are aligned to */

/* The instruction before, but for padding. */
enum before {
	GOES_ON,
	CALLS, /* and perhaps does not come back */
	LEAVES,
	LEAVES_BY, /* a register, which may be a switch's */
	NOTHING,   /* but data */
};

struct code_starts {
	struct code_text text;
	uint8_t *jumped, *called; /* to a byte of the text: a bit for each */

	size_t at, furthest; /* which this function jumps to; */
	size_t within;	     /* and if something holds, which stays in a function */
	enum before before;
	bool padded;
};

struct step {
	size_t n; /* 0: no instruction */
	bool calls, leaves, by_register, is_padding, leads;
	int64_t distance; /* LEADS: from its end */
};

bool code_starts_knows(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

void code_starts_free(struct code_starts *starts)
{
	if (!starts)
		return;
	free(starts->jumped);
	free(starts->called);
	free(starts);
}

static struct step step_x86(const uint8_t *code, size_t n, uint64_t vaddr,
			    bool behind_end)
{
	struct step step = { 0 };

	if (x86_insn_zeroes(code, n, vaddr, behind_end))
		return step;
	step.n = x86_insn_bytes(code, n, &step.calls);
	if (!step.n)
		return step;
	step.is_padding = x86_insn_is_padding(code, step.n) ||
			  (behind_end && x86_insn_is_ud1(code, step.n));
	step.leaves = x86_insn_leaves(code, step.n, &step.by_register);
	step.leads = x86_insn_distance(code, step.n, &step.distance);
	return step;
}

static struct step step_arm64(const uint8_t *code, size_t n)
{
	struct step step = { 0 };
	uint32_t insn;

	if (n < sizeof(insn))
		return step;
	memcpy(&insn, code, sizeof(insn));
	step.n = sizeof(insn);
	step.is_padding = arm64_insn_is_padding(insn);
	step.calls = arm64_insn_calls(insn);
	step.leaves = arm64_insn_leaves(insn, &step.by_register);
	step.leads = arm64_insn_distance(insn, &step.distance);
	step.distance -= sizeof(insn);
	return step;
}

/* behind_end: what lies before that never goes on */
static struct step step_at(const struct code_text *text, size_t at, bool behind_end)
{
	return text->is_arm64 ? step_arm64(text->bytes + at, text->n - at)
			      : step_x86(text->bytes + at, text->n - at, text->vaddr + at,
					 behind_end);
}

static size_t next_round(const struct code_text *text, size_t at)
{
	return at + FUNCTION_ALIGN - (text->vaddr + at) % FUNCTION_ALIGN;
}

/* Where it leads, if that is in the text; else SIZE_MAX. */
static size_t target_of(const struct code_text *text, size_t at, const struct step *step)
{
	int64_t to = (int64_t)(at + step->n) + step->distance;

	return step->leads && to >= 0 && to < (int64_t)text->n ? (size_t)to : SIZE_MAX;
}

static bool is_round(const struct code_text *text, size_t at)
{
	return (text->vaddr + at) % FUNCTION_ALIGN == 0;
}

/* Conditional jumps stay in their function. */
static bool may_be_tail_call(const struct code_text *text, size_t to,
			     const struct step *step)
{
	return step->leaves && is_round(text, to);
}

static bool has_bit(const uint8_t *bits, size_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

/* call 1f; 1: pop %rax: code that asks where it is. */
static bool asks_where(const struct code_text *text, size_t at, const struct step *step)
{
	size_t pop = at + step->n;

	if (text->is_arm64 || !step->calls || step->distance || pop + 1 >= text->n)
		return false;
	pop += text->bytes[pop] == 0x41;
	return (text->bytes[pop] & 0xf8) == 0x58;
}

static void mark_targets(struct code_starts *starts)
{
	const struct code_text *text = &starts->text;
	bool behind_end = false;

	for (size_t at = 0; at < text->n;) {
		struct step step = step_at(text, at, behind_end);
		size_t to = target_of(text, at, &step);
		uint8_t *bits = step.calls ? starts->called : starts->jumped;

		if (to != SIZE_MAX && !may_be_tail_call(text, to, &step) &&
		    !asks_where(text, at, &step))
			bits[to / 8] |= (uint8_t)(1 << to % 8);
		behind_end = step.leaves;
		at = step.n ? at + step.n : next_round(text, at);
	}
}

int code_starts_new(struct code_starts **ret, const struct code_text *text)
{
	AUTO(code_starts) starts = calloc(1, sizeof(*starts));

	if (starts) {
		starts->text = *text;
		starts->before = NOTHING;
		starts->jumped = calloc(1, text->n / 8 + 1);
		starts->called = calloc(1, text->n / 8 + 1);
	}
	if (!starts || !starts->jumped || !starts->called)
		return fail(-ENOMEM, "no memory for %zu bytes of code", text->n);
	mark_targets(starts);
	*ret = GIVE(starts);
	return 0;
}

/* Does another function begin here, behind what perhaps never goes on? */
static bool begins(const struct code_starts *starts)
{
	size_t at = starts->at;
	bool round = starts->padded || is_round(&starts->text, at);
	bool jumped = has_bit(starts->jumped, at), passed = starts->furthest < at;
	bool other = round && !jumped && starts->within < at;

	switch (starts->before) {
	case GOES_ON:
		return false;
	case CALLS:
		return passed && !jumped &&
		       (has_bit(starts->called, at) ||
			(starts->padded && is_round(&starts->text, at)));
	case LEAVES:
		return passed || other || has_bit(starts->called, at);
	case LEAVES_BY:
		return (round && passed) || other || has_bit(starts->called, at);
	case NOTHING:
		break;
	}
	return true;
}

static void go_on(struct code_starts *starts, const struct step *step)
{
	size_t to = target_of(&starts->text, starts->at, step);

	/* what is called, too, is another function */
	if (to != SIZE_MAX && !step->calls && to > starts->furthest &&
	    !has_bit(starts->called, to) && !may_be_tail_call(&starts->text, to, step))
		starts->furthest = to;
	if (to != SIZE_MAX && !step->calls && !step->leaves && to > starts->within)
		starts->within = to;
	starts->before = step->by_register ? LEAVES_BY
			 : step->leaves	   ? LEAVES
			 : step->calls	   ? CALLS
					   : GOES_ON;
	starts->padded = false;
	starts->at += step->n;
}

/* Behind data, or what is none, or padding. */
static void pass(struct code_starts *starts, const struct step *step)
{
	if (!step->n)
		starts->before = NOTHING;
	starts->padded = true;
	starts->at =
		step->n ? starts->at + step->n : next_round(&starts->text, starts->at);
}

bool code_starts_next(struct code_starts *starts, size_t *ret)
{
	while (starts->at < starts->text.n) {
		struct step step =
			step_at(&starts->text, starts->at,
				starts->before == LEAVES || starts->before == LEAVES_BY);
		bool is_first = !starts->at && starts->text.is_begun;
		bool is_one = is_first || begins(starts);

		if (!step.n || (step.is_padding && !is_first && starts->before)) {
			pass(starts, &step);
			continue;
		}
		*ret = starts->at;
		if (is_one)
			starts->furthest = starts->within = starts->at;
		go_on(starts, &step);
		if (is_one)
			return true;
	}
	return false;
}

size_t code_starts_called(const struct code_starts *starts, size_t from)
{
	while (from < starts->text.n && !has_bit(starts->called, from))
		from++;
	return from < starts->text.n ? from : starts->text.n;
}
