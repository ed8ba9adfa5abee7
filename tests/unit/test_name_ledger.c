// SPDX-License-Identifier: BSD-2-Clause
/* Generated code without names, beside files that are mapped no longer: their numbers are
 * nobody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* ours is meant */

#include "base/clock.h"
#include "pipeline/profile_builder.h"
#include "record/cut_generated.h"

enum { PID = 7, OTHER_PID };

static void no_one(void *arg, uint32_t module)
{
}

static uint32_t add_module_of(struct module_table *modules, uint32_t pid,
			      enum module_kind kind, const char *path)
{
	const struct module module = {
		.kind = kind, .pid = pid, .ino = kind == MODULE_FILE, .path = path
	};
	uint32_t id;

	assert_int_equal(module_id(modules, &module, &id), 0);
	module_hold(modules, id);
	return id;
}

static uint32_t add_module(struct module_table *modules, enum module_kind kind,
			   const char *path)
{
	return add_module_of(modules, PID, kind, path);
}

static struct files *opened; /* NULL: no files were */

struct counted {
	struct name_ledger ledger;
	struct cut_generated cut;
};

/* A leaf in `leaf`, and its caller in `caller`; their names, or NULL. So many samples
 * that reached the start, and one that ended so. */
static void count_beside(struct module_table *modules, uint32_t leaf, uint32_t caller,
			 const char *const called[2], enum ending ending, int whole,
			 struct counted *ret)
{
	uint32_t codes[STACK_HEAD + 2] = { 0, HOOK_ONCPU, END_START, 0, 2 };
	const struct sample_owner owner = { .time_ns = 1, .weight_ns = 1, .tgid = PID };
	const struct frame frames[] = { { .module = leaf, .offset = 0x1000 },
					{ .module = caller, .offset = 0x2000 } };
	AUTO(aggregator) aggregator = NULL;
	AUTO(names) names = NULL;
	AUTO(profile_builder) builder = NULL;
	struct name_ledger_source source;
	uint32_t id;

	assert_int_equal(aggregator_new(&aggregator), 0);
	assert_int_equal(names_new(&names), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(aggregator_frame_id(aggregator, &frames[i], &id), 0);
		codes[STACK_HEAD + i] = CODE_FRAME | id;
		if (called[i])
			assert_int_equal(names_set(names, id, called[i]), 0);
	}
	for (int i = 0; i <= whole; i++) {
		codes[2] = i < whole ? END_START : ending;
		assert_int_equal(
			aggregator_add(aggregator, codes, STACK_HEAD + 2, &owner), 0);
	}
	assert_int_equal(profile_builder_new(&builder, aggregator, modules), 0);
	assert_int_equal(profile_builder_finish(builder, names), 0);
	source = (struct name_ledger_source){ aggregator, modules, names,
					      profile_builder_profile(builder), opened };
	assert_int_equal(name_ledger_count(&ret->ledger, &source), 0);
	assert_int_equal(cut_generated_count(&ret->cut, &source), 0);
}

static void count_ended(struct module_table *modules, uint32_t leaf, uint32_t caller,
			const char *const called[2], enum ending ending,
			struct counted *ret)
{
	count_beside(modules, leaf, caller, called, ending, 0, ret);
}

static void count_named(struct module_table *modules, uint32_t jit, uint32_t caller,
			const char *const called[2], struct name_ledger *ret)
{
	struct counted counted;

	count_ended(modules, jit, caller, called, END_START, &counted);
	assert_int_equal(counted.cut.samples, 0);
	*ret = counted.ledger;
}

static void count_of_generated(struct module_table *modules, uint32_t jit,
			       uint32_t caller, struct name_ledger *ret)
{
	static const char *const none[2];

	count_named(modules, jit, caller, none, ret);
}

/* Only from the version on that can, and only if it has not done so. */
static void an_interpreter_could_name_what_it_runs(void **state)
{
	static const char evaluates[] = "_PyEval_EvalFrameDefault";
	static const struct {
		const char *path, *called[2];
		bool hint;
	} runs[] = {
		{ "/usr/bin/python3.13", { NULL, evaluates }, true },
		{ "/usr/lib/libpython3.12.so.1.0", { NULL, evaluates }, true },
		{ "/usr/bin/python3.11", { NULL, evaluates }, false },
		{ "/usr/bin/python3.13", { NULL, "PyObject_Call" }, false },
		{ "/usr/bin/own", { NULL, evaluates }, false },
		{ "/usr/bin/python3.13", { "py::f:/x.py", evaluates }, false },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		AUTO(module_table) modules = NULL;
		struct name_ledger ledger;
		uint32_t python, jit;

		assert_int_equal(module_table_new(&modules), 0);
		python = add_module(modules, MODULE_FILE, runs[i].path);
		jit = add_module(modules, MODULE_JIT, "[jit]");
		count_named(modules, jit, python, runs[i].called, &ledger);
		assert_int_equal(ledger.interpreter != NULL, runs[i].hint);
		assert_int_equal(ledger.frames, 2);
		if (runs[i].hint)
			assert_int_equal(ledger.interpreted, 1);
	}
}

static void a_module_that_was_let_go_made_no_code(void **state)
{
	AUTO(module_table) modules = NULL;
	struct name_ledger ledger;
	uint32_t gone, node, jit;

	assert_int_equal(module_table_new(&modules), 0);
	gone = add_module(modules, MODULE_FILE, "/usr/bin/gone");
	node = add_module(modules, MODULE_FILE, "/usr/bin/node");
	jit = add_module(modules, MODULE_JIT, "[jit]");
	module_release(modules, gone);
	for (int i = 0; i < 2; i++) /* looked up since the last time: it stays once */
		assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(module_serial(modules, gone), 0);
	count_of_generated(modules, jit, node, &ledger);
	assert_int_equal(ledger.frames, 2);
	assert_int_equal(ledger.n_modules, 2);
	assert_int_equal(ledger.modules[0].remedy, REMEDY_JIT);
	assert_non_null(ledger.modules[0].asked);
}

static void nor_did_one_that_only_others_run(void **state)
{
	AUTO(module_table) modules = NULL;
	struct name_ledger ledger;
	uint32_t own, jit;

	assert_int_equal(module_table_new(&modules), 0);
	add_module_of(modules, OTHER_PID, MODULE_FILE, "/usr/bin/node");
	own = add_module(modules, MODULE_FILE, "/usr/bin/own");
	jit = add_module(modules, MODULE_JIT, "[jit]");
	count_of_generated(modules, jit, own, &ledger);
	assert_int_equal(ledger.modules[0].remedy, REMEDY_JIT);
	assert_null(ledger.modules[0].asked);
}

/* Whatever its path is: a file's base name, or all of it. */
static void who_has_no_symbols_is_named(void **state)
{
	static const struct {
		const char *path, *said;
	} runs[] = {
		{ "/usr/bin/own", " in own: it was stripped" },
		{ "crun", " in crun: it was stripped" },
		{ "/", " in /: it was stripped" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		AUTO(module_table) modules = NULL;
		struct name_ledger ledger;
		AUTO_STR said = { 0 };
		uint32_t file;

		assert_int_equal(module_table_new(&modules), 0);
		file = add_module(modules, MODULE_FILE, runs[i].path);
		count_of_generated(modules, file, file, &ledger);
		name_ledger_summary(&said, &ledger);
		assert_non_null(strstr(said.s, runs[i].said));
	}
}

static int missed;

static int miss(struct opener *opener, pid_t pid, const struct mapping *map,
		const struct module *module, int *ret_fd)
{
	return missed;
}

/* Of what lies in it nobody knows. */
static void who_could_not_be_opened_is_not_stripped(void **state)
{
	static const struct {
		int missed;
		const char *said;
	} runs[] = {
		{ -ENOENT, " in own: it could not be opened: the file, or the process" },
		{ -EACCES, " in own: it could not be opened: Permission denied" },
	};
	const struct file_source source = { .now_ns = clock_now_ns, .open = miss };
	const struct process process = { .tgid = PID };

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		AUTO(module_table) modules = NULL;
		struct files_config config = { .source = &source };
		struct mapping map = { .start = 0x1000, .end = 0x2000 };
		struct name_ledger ledger;
		AUTO_STR said = { 0 };

		assert_int_equal(module_table_new(&modules), 0);
		map.module = add_module(modules, MODULE_FILE, "/usr/bin/own");
		config.modules = modules;
		assert_int_equal(files_new(&opened, &config), 0);
		missed = runs[i].missed;
		assert_int_equal(files_open(opened, &process, &map), 0);
		count_of_generated(modules, map.module, map.module, &ledger);
		files_free(opened);
		opened = NULL;
		assert_int_equal(ledger.modules[0].remedy, REMEDY_NONE);
		name_ledger_summary(&said, &ledger);
		assert_non_null(strstr(said.s, runs[i].said));
	}
}

/* The stack begins at the caller, so that is where it was cut. */
static void code_without_frame_pointers_is_told(void **state)
{
	static const struct {
		const char *path;
		enum ending ending;
		bool ends_in_file, hint;
		uint64_t samples;
	} runs[] = {
		{ "/usr/lib/jvm/17/lib/server/libjvm.so", END_BROKEN, false, true, 1 },
		{ "/usr/lib/jvm/17/lib/server/libjvm.so", END_START, false, false, 0 },
		{ "/usr/lib/jvm/17/lib/server/libjvm.so", END_BROKEN, true, false, 0 },
		{ "/usr/lib/jvm/17/lib/server/libjvm.so", END_AWAITED, false, false, 0 },
		{ "/usr/bin/qemu-x86_64", END_BROKEN, false, false, 1 },
	};
	static const char *const none[2];

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		AUTO(module_table) modules = NULL;
		struct counted counted;
		uint32_t file, jit;

		assert_int_equal(module_table_new(&modules), 0);
		file = add_module(modules, MODULE_FILE, runs[i].path);
		jit = add_module(modules, MODULE_JIT, "[jit]");
		count_ended(modules, runs[i].ends_in_file ? jit : file,
			    runs[i].ends_in_file ? file : jit, none, runs[i].ending,
			    &counted);
		assert_int_equal(counted.cut.samples, runs[i].samples);
		assert_int_equal(counted.cut.asked != NULL, runs[i].hint);
	}
}

/* Is there a hint, where one of a runtime's samples is cut beside so many whole ones? */
static bool is_asked(const char *path, const char *const called[2], int whole)
{
	AUTO(module_table) modules = NULL;
	struct counted counted;
	uint32_t file, jit;

	assert_int_equal(module_table_new(&modules), 0);
	file = add_module(modules, MODULE_FILE, path);
	jit = add_module(modules, MODULE_JIT, "[jit]");
	count_beside(modules, file, jit, called, END_BROKEN, whole, &counted);
	assert_int_equal(counted.cut.samples, 1);
	return counted.cut.asked;
}

static const char java[] = "/usr/lib/jvm/17/lib/server/libjvm.so",
		  erlang[] = "/usr/lib/erlang/erts/bin/beam.smp";

/* The hint is not for who has followed it: some stubs of a runtime keep none at all. */
static void who_was_asked_is_not_asked_again(void **state)
{
	static const char *const none[2];

	for (int whole = 0; whole <= 5; whole++)
		assert_int_equal(is_asked(java, none, whole), whole < 3);
}

/* Nor who names its code, where the same makes it do both. */
static void erlang_that_names_its_code_was_asked(void **state)
{
	static const char *const none[2], *const map[] = { NULL, "lists:map/2" },
						 *const method[] = { NULL, "A::main" };

	assert_true(is_asked(erlang, none, 0));
	assert_false(is_asked(erlang, map, 0));
	assert_true(is_asked(java, method, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_that_was_let_go_made_no_code),
		cmocka_unit_test(nor_did_one_that_only_others_run),
		cmocka_unit_test(an_interpreter_could_name_what_it_runs),
		cmocka_unit_test(code_without_frame_pointers_is_told),
		cmocka_unit_test(who_was_asked_is_not_asked_again),
		cmocka_unit_test(who_has_no_symbols_is_named),
		cmocka_unit_test(who_could_not_be_opened_is_not_stripped),
		cmocka_unit_test(erlang_that_names_its_code_was_asked),
	};

	return cmocka_run_group_tests_name("name_ledger", tests, NULL, NULL);
}
