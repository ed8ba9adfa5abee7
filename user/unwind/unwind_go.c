// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go.h"

#include "base/error.h"
#include "unwind/unwind_go_calls.h"
#include "unwind/unwind_go_code.h"

#include <errno.h>

#define NO_PC UINT64_MAX

/* Its code says more than a rule: that a signal's handler returned to it. */
static bool is_restorer(const struct go_function *function)
{
	return go_code_is(function, "runtime.sigreturn__sigaction") ||
	       go_code_is(function, "runtime.sigreturn");
}

/* A new goroutine has an address in it as that of its caller, behind no call: where its
 * stack ends. No rule is there, so the walk finds that out. */
static bool is_bottom(const struct go_function *function)
{
	return function->flags & GO_IS_TOP && go_code_is(function, "runtime.goexit");
}

/* The signal handler's first function is one of the top to Go, but it returns to the code
 * that leads back to whom the signal interrupted. */
static bool is_top(const struct go_function *function)
{
	return function->flags & GO_IS_TOP && !go_code_is(function, "runtime.sigtramp");
}

static int tell_top(struct unwind_go *go, const struct go_function *function)
{
	static const struct unwind_rule none, nobody = { .cfa = UNWIND_CFA_END };
	uint64_t pc = function->begin;
	int err = 0;

	if (is_bottom(function)) {
		err = go_calls_tell(go, pc, &none);
		pc += go->table.quantum;
	}
	return err || pc >= function->end ? err : go_calls_tell(go, pc, &nobody);
}

static int tell_body(struct unwind_go *go, const struct go_function *function)
{
	return go->file->header.e_machine == EM_X86_64 ? go_code_tell_x86(go, function)
						       : go_code_tell_arm64(go, function);
}

static int tell_newstack(struct unwind_go *go, const struct go_function *function)
{
	int err;

	go_calls_find(go, function);
	err = tell_body(go, function);
	return err ? err : go_calls_end(go, function->end);
}

static int tell_function(struct unwind_go *go, const struct go_function *function)
{
	static const struct unwind_rule none;

	if (is_restorer(function))
		return go_calls_tell(go, function->begin, &none);
	if (is_top(function))
		return tell_top(go, function);
	if (go_code_is(function, "runtime.newstack"))
		return tell_newstack(go, function);
	return tell_body(go, function);
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
			err = go_calls_tell(go, function.begin, &none);
	return err;
}

/* What the file itself says holds again. */
static int tell_end(struct unwind_go *go, uint64_t pc)
{
	go->ended = true;
	return pc == go->end ? 0 : go_calls_tell(go, go->end, &go->rule);
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
	return go_calls_tell(go, pc, rule);
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
	if (file->header.e_machine == EM_X86_64 || file->header.e_machine == EM_AARCH64)
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
