// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go.h"

#include "base/error.h"
#include "obj/go_values.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#include <errno.h>
#include <string.h>

#define GO_WORD		8
#define DISTANCE_MAX	(1 << 30)
#define GO_CODE_MAX	512 /* of a function that writes sp; Go's have 384 */
#define NO_PC		UINT64_MAX
#define BEHIND_BOTH	16 /* the frame pointer and the return address */
#define FP_BELOW_RETURN (-2)

#define PUSH_FP 0x55
#define REX_B	0x41 /* before it: of %r13 */

/* push %rbp; mov %rsp, %rbp */
static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };

/* What is known of a function besides its distances. */
struct go_code {
	const struct go_function *function;
	bool saves_fp;	    /* before anything else */
	bool keeps_fp;	    /* and has it wherever sp may be */
	uint64_t leaves;    /* from here on its distances say nothing, or NO_PC */
	enum unwind_cfa to; /* and this holds */
};

static bool is_named(const struct go_function *function, const char *name)
{
	return !strcmp(function->name, name);
}

/* They have switched to the scheduler's stack for good, and to a new thread's. */
static bool never_comes_back(const struct go_function *function)
{
	return is_named(function, "runtime.mcall") || is_named(function, "runtime.clone");
}

/* Others' assembly may use the frame pointer for something else. */
static bool is_of_runtime(const struct go_function *function)
{
	return !strncmp(function->name, "runtime.", strlen("runtime.")) ||
	       is_named(function, "time.now");
}

/* Behind the first instruction that sets sp to something else, or that can't be read. */
static uint64_t find_write(const struct go_function *function, const uint8_t *bytes,
			   size_t n)
{
	for (size_t at = 0; at < n;) {
		bool calls;
		size_t one = x86_insn_bytes(bytes + at, n - at, &calls);

		if (!one)
			return function->begin + at;
		if (x86_effect(bytes + at, one).sp != X86_SP_MOVED)
			return function->begin + at + one;
		at += one;
	}
	return NO_PC;
}

static void look_at_writer(struct unwind_go *go, struct go_code *code)
{
	const struct go_function *function = code->function;
	uint64_t n = function->end - function->begin, offset, left;
	uint8_t bytes[GO_CODE_MAX];

	code->leaves = function->begin;
	code->to = UNWIND_CFA_TORN;
	n = n < sizeof(bytes) ? n : sizeof(bytes);
	if (!elf_file_offset(go->file, function->begin, &offset, &left) || left < n ||
	    elf_file_read(go->file, offset, bytes, n))
		return;
	code->saves_fp =
		n > sizeof(prologue) && !memcmp(bytes, prologue, sizeof(prologue));
	code->keeps_fp =
		code->saves_fp && is_of_runtime(function) && !never_comes_back(function);
	code->leaves = code->keeps_fp ? NO_PC : find_write(function, bytes, n);
	if (never_comes_back(function))
		code->to = UNWIND_CFA_END;
}

/* Its code says more than a rule: that a signal's handler returned to it. */
static bool is_restorer(const struct go_function *function)
{
	return is_named(function, "runtime.sigreturn__sigaction") ||
	       is_named(function, "runtime.sigreturn");
}

/* A new goroutine has an address in it as that of its caller, behind no call: where its
 * stack ends. No rule is there, so the walk finds that out. */
static bool is_bottom(const struct go_function *function)
{
	return function->flags & GO_IS_TOP && is_named(function, "runtime.goexit");
}

/* The signal handler's first function is one of the top to Go, but it returns to the code
 * that leads back to whom the signal interrupted. */
static void look_at(struct unwind_go *go, struct go_code *code)
{
	const struct go_function *function = code->function;

	code->leaves = NO_PC;
	code->saves_fp = !(function->flags & GO_IS_ASSEMBLY);
	if (is_restorer(function)) {
		code->leaves = function->begin;
		code->to = UNWIND_CFA_NONE;
	} else if (function->flags & GO_IS_TOP &&
		   !is_named(function, "runtime.sigtramp")) {
		code->leaves = function->begin + is_bottom(function);
		code->to = UNWIND_CFA_END;
	} else if (function->flags & GO_WRITES_SP) {
		look_at_writer(go, code);
	}
}

static struct unwind_rule rule_for(const struct go_code *code, int distance)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP,
		.cfa_offset = distance + GO_WORD,
		.ra_words = -1,
		.bx_words = UNWIND_BX_LOST, /* Go saves no such register */
	};

	if (distance < 0 || distance > DISTANCE_MAX || distance % GO_WORD)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	if (distance) {
		rule.fp = code->saves_fp ? UNWIND_FP_CFA : UNWIND_FP_LOST;
		rule.fp_words = code->saves_fp ? FP_BELOW_RETURN : 0;
	}
	return rule;
}

/* Is the last instruction of a piece push %rbp? So assembly has it, but where it saves
 * another register, or nothing. */
static bool pushes_fp(struct unwind_go *go, uint64_t pc, uint64_t end)
{
	uint64_t n = end - pc < 2 ? 1 : 2, offset, left;
	uint8_t bytes[2] = { 0 };

	return elf_file_offset(go->file, end - n, &offset, &left) && left >= n &&
	       !elf_file_read(go->file, offset, bytes + 2 - n, n) &&
	       bytes[1] == PUSH_FP && bytes[0] != REX_B;
}

/* The code from pc on at one distance. */
static int tell_piece(struct unwind_go *go, const struct go_code *code, uint64_t pc,
		      const struct go_values *distances)
{
	uint64_t has_fp = code->function->begin + sizeof(prologue);
	struct unwind_rule rule = { 0 };
	int err = 0;

	if (!is_bottom(code->function))
		rule = rule_for(code, distances->value);

	if (!code->keeps_fp || rule.cfa != UNWIND_CFA_SP || !distances->value)
		return go->sink->row(go->sink->arg, pc, &rule);
	if (pc < has_fp) {
		err = go->sink->row(go->sink->arg, pc, &rule);
		pc = has_fp;
	}
	rule.cfa = UNWIND_CFA_FP;
	rule.cfa_offset = BEHIND_BOTH;
	return err || pc >= distances->end ? err
					   : go->sink->row(go->sink->arg, pc, &rule);
}

static int tell_function(struct unwind_go *go, const struct go_function *function)
{
	static const struct unwind_rule none;
	struct go_code code = { .function = function };
	struct go_values distances;
	uint64_t pc = function->begin;
	int err = 0;

	look_at(go, &code);
	go_values_begin(&go->table, function, function->sp, &distances);
	while (!err && pc < code.leaves && go_values_next(&distances)) {
		if (function->flags & GO_IS_ASSEMBLY && !distances.value)
			code.saves_fp = pushes_fp(go, pc, distances.end);
		err = tell_piece(go, &code, pc, &distances);
		pc = distances.end;
	}
	if (!err && code.leaves < function->end) {
		struct unwind_rule rule = { .cfa = (unsigned char)code.to };

		err = go->sink->row(go->sink->arg, code.leaves, &rule);
		pc = function->end;
	}
	return err || pc >= function->end ? err : go->sink->row(go->sink->arg, pc, &none);
}

static int tell_all(struct unwind_go *go)
{
	static const struct unwind_rule none;
	struct go_function function;
	int err = 0;

	go->told = true;
	for (uint32_t i = 0; !err && i < go->table.n_functions; i++)
		if (go_table_function(&go->table, i, &function))
			err = tell_function(go, &function);
		else if (function.begin < function.end)
			err = go->sink->row(go->sink->arg, function.begin, &none);
	return err;
}

/* What the file itself says holds again. */
static int tell_end(struct unwind_go *go, uint64_t pc)
{
	go->ended = true;
	return pc == go->end ? 0 : go->sink->row(go->sink->arg, go->end, &go->rule);
}

int unwind_go_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_go *go = arg;
	int err = 0;

	if (go->table.n_functions && pc >= go->begin && !go->told)
		err = tell_all(go);
	if (!err && go->told && !go->ended && pc >= go->end)
		err = tell_end(go, pc);
	go->rule = *rule;
	if (err || (go->told && !go->ended))
		return err;
	return go->sink->row(go->sink->arg, pc, rule);
}

int unwind_go_end(struct unwind_go *go)
{
	int err = 0;

	if (go->table.n_functions && !go->told)
		err = tell_all(go);
	if (!err && go->told && !go->ended)
		err = tell_end(go, NO_PC);
	return err;
}

void unwind_go_open(struct unwind_go *go, struct elf_file *file,
		    const struct cfi_sink *sink)
{
	struct go_function first, last;
	int err = 0;

	*go = (struct unwind_go){ .file = file, .sink = sink };
	if (file->header.e_machine == EM_X86_64)
		err = go_table_open(&go->table, file);
	if (err == -ENOMEM)
		elf_file_stop_recording(file);
	error_clear(); /* then there is what the file says otherwise */
	if (!go->table.n_functions)
		return;
	go_table_function(&go->table, 0, &first);
	go_table_function(&go->table, go->table.n_functions - 1, &last);
	go->begin = first.begin;
	go->end = last.end;
}

void unwind_go_close(struct unwind_go *go)
{
	go_table_close(&go->table);
}
