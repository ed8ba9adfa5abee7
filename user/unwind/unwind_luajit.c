// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_luajit.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "shared/luajit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* The interpreter has some 16 KB. */
#define INTERPRETER_MIN 8192
#define INTERPRETER_MAX (128u << 10)

/* vm_x64.dasc: saveregs and restoreregs. For each byte at which an instruction begins,
 * how many words there are up to the CFA. */
struct frame_code {
	size_t n;
	uint8_t code[12], words[12];
};

static const struct frame_code places[] = {
	/* push rbp, rbx, r15, r14; sub rsp, 40 */
	{ 10,
	  { 0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xec, 0x28 },
	  { 1, 2, 3, 0, 4, 0, 5 } },
	/* add rsp, 40; pop r14, r15, rbx, rbp; ret */
	{ 11,
	  { 0x48, 0x83, 0xc4, 0x28, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0x5d, 0xc3 },
	  { 0, 0, 0, 0, 5, 0, 4, 0, 3, 2, 1 } },
};

/* Are the last row's rule, and how much it holds for, the interpreter's? */
static bool is_interpreter(const struct unwind_luajit *luajit, uint64_t end)
{
	uint64_t n = end - luajit->pc;

	return luajit->file->header.e_machine == EM_X86_64 && n >= INTERPRETER_MIN &&
	       n <= INTERPRETER_MAX && luajit_is_rule(&luajit->rule);
}

/* Of so many words, of which the first is the return address, then rbp and rbx. */
static struct unwind_rule rule_of(unsigned int words)
{
	struct unwind_rule ret = { .cfa = UNWIND_CFA_SP,
				   .cfa_offset = (int32_t)(8 * words),
				   .ra_words = -1 };

	if (words > 1) {
		ret.fp = UNWIND_FP_CFA;
		ret.fp_words = LUAJIT_FP_WORDS;
	}
	if (words > 2)
		ret.bx_words = LUAJIT_BX_WORDS;
	return ret;
}

static int give_place(const struct unwind_luajit *luajit, const struct frame_code *place,
		      uint64_t at)
{
	const struct cfi_sink *sink = luajit->sink;
	int err = 0;

	for (size_t i = 0; !err && i < place->n; i++) {
		const struct unwind_rule rule = rule_of(place->words[i]);

		if (place->words[i])
			err = sink->row(sink->arg, at + i, &rule);
	}
	return err ? err : sink->row(sink->arg, at + place->n, &luajit->rule);
}

static const struct frame_code *place_at(const uint8_t *code, size_t left)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i].n < left && !memcmp(code, places[i].code, places[i].n))
			return &places[i];
	return NULL;
}

/* The rows of its places, behind its own. What can't be read stays as the file has it. */
static int give_places(const struct unwind_luajit *luajit, uint64_t end)
{
	size_t n = end - luajit->pc;
	AUTO_FREE uint8_t *code = malloc(n);
	const struct frame_code *place;
	uint64_t offset, left;
	int err = 0;

	if (!code)
		return fail(-ENOMEM, "no memory for code");
	if (!elf_file_offset(luajit->file, luajit->pc, &offset, &left) || left < n ||
	    elf_file_read(luajit->file, offset, code, n)) {
		error_clear();
		return 0;
	}
	for (size_t at = 0; !err && at < n; at += place ? place->n : 1) {
		place = place_at(code + at, n - at);
		if (place)
			err = give_place(luajit, place, luajit->pc + at);
	}
	return err;
}

int unwind_luajit_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_luajit *luajit = arg;
	const struct cfi_sink *sink = luajit->sink;
	int err = 0;

	if (!luajit->found && is_interpreter(luajit, pc)) { /* a file has one */
		luajit->found = true;
		err = give_places(luajit, pc);
	}
	luajit->pc = pc;
	luajit->rule = *rule;
	return err ? err : sink->row(sink->arg, pc, rule);
}
