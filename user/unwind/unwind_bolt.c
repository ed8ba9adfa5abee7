// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_bolt.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_section.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#define FUNCTION_MAX	  (1u << 20)  /* bytes; larger ones stay as they are told of */
#define CODE_BUDGET_BYTES (64u << 20) /* of a file */
#define FOLLOW_ROUNDS_MAX 16

/* Of a byte of code: what its instruction has on the stack. */
enum { NO_INSN, AS_TOLD, BY_ROW }; /* and on: as the row of that number */

#define NOTHING_YET UINT32_MAX

/* A function's code. */
struct bolt_code {
	const uint8_t *bytes;
	uint32_t *is; /* by byte */
	size_t n;
};

void unwind_bolt_open(struct unwind_bolt *bolt, struct elf_file *file,
		      const struct cfi_sink *sink)
{
	const Elf64_Shdr *sh = NULL;

	*bolt = (struct unwind_bolt){
		.sink = sink, .code = { .file = file, .left = CODE_BUDGET_BYTES }
	};
	bolt->is_made = file->header.e_machine == EM_X86_64 &&
			!elf_section_find(file, ".note.bolt_info", &sh) && sh;
	error_clear();
}

void unwind_bolt_close(struct unwind_bolt *bolt)
{
	vec_free(&bolt->rows);
}

/* As a call leaves the stack, or as it is before a return: registers that were given back
 * may be told to be saved still. */
static bool is_bare(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->cfa_offset == 8;
}

/* Of a row but the first, which begins the function. */
static bool is_doubtful(const struct unwind_bolt *bolt, size_t row)
{
	return row && is_bare(&bolt->rows.items[row].rule);
}

static size_t row_at(const struct unwind_bolt *bolt, uint64_t pc)
{
	size_t low = 0, high = bolt->rows.n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (bolt->rows.items[mid].pc <= pc)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The row that says what an instruction has on the stack; false: it is not believed. */
static bool find_row(const struct unwind_bolt *bolt, const struct bolt_code *code,
		     size_t at, size_t *ret)
{
	*ret = row_at(bolt, bolt->rows.items[0].pc + at);
	if (code->is[at] >= BY_ROW)
		*ret = code->is[at] - BY_ROW;
	return !is_bare(&bolt->rows.items[*ret].rule);
}

/* An instruction is gone on to with as much on the stack as a row says. */
static bool come_to(const struct unwind_bolt *bolt, const struct bolt_code *code,
		    size_t at, size_t row)
{
	if (at >= code->n || code->is[at] != AS_TOLD ||
	    !is_doubtful(bolt, row_at(bolt, bolt->rows.items[0].pc + at)))
		return false;
	code->is[at] = (uint32_t)row + BY_ROW;
	return true;
}

static bool moves_sp(const struct x86_effect *is)
{
	return is->sp != X86_SP_MOVED || is->pushed || is->drops;
}

/* A call may never come back: then what lies behind it is of a row of its own. */
static bool goes_on(const struct unwind_bolt *bolt, size_t at, size_t next, bool calls)
{
	uint64_t begin = bolt->rows.items[0].pc;

	return !calls || row_at(bolt, begin + at) == row_at(bolt, begin + next);
}

/* From one instruction to where it goes on. */
static bool follow(const struct unwind_bolt *bolt, const struct bolt_code *code,
		   size_t at, size_t n, bool calls)
{
	struct x86_effect is = x86_effect(code->bytes + at, n);
	int64_t distance;
	bool any = false;
	size_t row;

	if (moves_sp(&is) || !find_row(bolt, code, at, &row))
		return false;
	if (!is.leaves && goes_on(bolt, at, at + n, calls))
		any = come_to(bolt, code, at + n, row);
	if (!calls && x86_insn_distance(code->bytes + at, n, &distance))
		any |= come_to(bolt, code, at + n + (uint64_t)distance, row);
	return any;
}

/* All of the code; did anything come of it? */
static bool follow_all(const struct unwind_bolt *bolt, const struct bolt_code *code)
{
	bool calls, any = false;

	for (size_t at = 0, n; at < code->n; at += n) {
		n = x86_insn_bytes(code->bytes + at, code->n - at, &calls);
		if (!n)
			break;
		any |= follow(bolt, code, at, n, calls);
	}
	return any;
}

static void find_insns(const struct bolt_code *code)
{
	bool calls;

	for (size_t at = 0, n; at < code->n; at += n) {
		n = x86_insn_bytes(code->bytes + at, code->n - at, &calls);
		if (!n)
			break;
		code->is[at] = AS_TOLD;
	}
}

/* A row's, up to `end`, which is doubted: each stretch as its own code has it. */
static int give_stretches(const struct unwind_bolt *bolt, const struct bolt_code *code,
			  size_t row, uint64_t end)
{
	const struct bolt_row *rows = bolt->rows.items;
	uint32_t was = NOTHING_YET;
	int err = 0;

	for (uint64_t pc = rows[row].pc; !err && pc < end; pc++) {
		uint32_t is = code->is[pc - rows[0].pc];

		if (is == was || (is == NO_INSN && was != NOTHING_YET))
			continue;
		was = is;
		err = bolt->sink->row(bolt->sink->arg, pc,
				      &rows[is >= BY_ROW ? is - BY_ROW : row].rule);
	}
	return err;
}

static int give_rows(const struct unwind_bolt *bolt, const struct bolt_code *code)
{
	const struct bolt_row *rows = bolt->rows.items;
	int err = 0;

	for (size_t i = 0; !err && i < bolt->rows.n; i++) {
		uint64_t end = i + 1 < bolt->rows.n ? rows[i + 1].pc : bolt->end;

		if (code && is_doubtful(bolt, i))
			err = give_stretches(bolt, code, i, end);
		else
			err = bolt->sink->row(bolt->sink->arg, rows[i].pc, &rows[i].rule);
	}
	return err;
}

/* What can't be read, or is too much, is as it is told. */
static int give_by_code(struct unwind_bolt *bolt)
{
	uint64_t begin = bolt->rows.items[0].pc;
	size_t n = bolt->end - begin;
	AUTO_FREE uint8_t *bytes = malloc(n);
	AUTO_FREE uint32_t *is = calloc(n, sizeof(*is));
	const struct bolt_code code = { .bytes = bytes, .is = is, .n = n };

	if (!bytes || !is)
		return fail(-ENOMEM, "no memory for %zu bytes of code", n);
	if (code_pages_read(&bolt->code, begin, bytes, n) < n)
		return give_rows(bolt, NULL);
	find_insns(&code);
	for (int i = 0; i < FOLLOW_ROUNDS_MAX && follow_all(bolt, &code); i++) {
	}
	return give_rows(bolt, &code);
}

/* The rows of a function, all of which are there. */
static int give_function(struct unwind_bolt *bolt)
{
	bool any = false;
	int err;

	for (size_t i = 0; i < bolt->rows.n; i++)
		any |= is_doubtful(bolt, i);
	err = any && bolt->end - bolt->rows.items[0].pc <= FUNCTION_MAX
		      ? give_by_code(bolt)
		      : give_rows(bolt, NULL);
	bolt->rows.n = 0;
	return err;
}

void unwind_bolt_fde(void *arg, uint64_t begin, uint64_t end)
{
	struct unwind_bolt *bolt = arg;

	(void)begin;
	if (!bolt->err)
		bolt->err = give_function(bolt);
	bolt->end = end;
}

int unwind_bolt_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_bolt *bolt = arg;

	if (!bolt->err && pc < bolt->end)
		return vec_push(&bolt->rows, (struct bolt_row){ pc, *rule });
	if (!bolt->err)
		bolt->err = give_function(bolt);
	return bolt->err ? bolt->err : bolt->sink->row(bolt->sink->arg, pc, rule);
}

int unwind_bolt_end(struct unwind_bolt *bolt)
{
	return bolt->err ? bolt->err : give_function(bolt);
}
