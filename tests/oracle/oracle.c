// SPDX-License-Identifier: BSD-2-Clause
/*
 * oracle --fp PROGRAM… --code PROGRAM… --tables PROGRAM…: steps each program and takes
 * a sample at every instruction, by the native build of the walker over the live process,
 * and compares it with the program's own calls; with tables every so often a
 * signal comes in between. Then the same with a part taken away, which must not
 * go well. TAP on stdout.
 */
#include "judge.h"
#include "machine.h"
#include "tables.h"
#include "walker.h"

#include <stdio.h>
#include <string.h>

#define LEAF_MAX     256  /* instructions of a function without a frame: a label's copy */
#define WRONG_ENOUGH 2000 /* to say that a control fails as it must */
#define SIGNAL_EVERY 89	  /* instructions; no multiple of any loop's here */

enum unwinding { BY_FP, BY_CODE, BY_TABLE };

/* Steps one program to its end. NULL, or why that did not go well. */
static const char *step_program(const char *path, enum unwinding by, struct way *way,
				struct tally *tally)
{
	static struct tracer t;
	static struct meanings meanings;
	bool armed = false;

	memset(tally, 0, sizeof(*tally));
	meanings.was.n = meanings.is.n = 0;
	if (tracer_start(&t, path)) {
		tracer_lend_memory(&t);
		way->by_code = by == BY_CODE;
		if (way->by_code)
			tables_publish_none(&t.shadow, &way->process_info);
		if (by == BY_TABLE &&
		    !tables_publish(path, &t.shadow, &way->process_info))
			t.flaw = "no unwind table";
		t.signal_every = by == BY_TABLE ? SIGNAL_EVERY : 0;
		while (!t.flaw && tracer_step(&t)) {
			if (t.shadow.armed && !armed && !meaning_change(&meanings.is, &t))
				t.flaw = "a change that cannot be";
			if (!t.shadow.armed && armed)
				meanings.was = meanings.is;
			armed = t.shadow.armed;
			if (t.flaw || tally->wrong > WRONG_ENOUGH)
				break;
			judge(&t, &meanings, way, tally);
		}
	}
	tracer_stop(&t);
	return t.flaw;
}

static bool report(int number, const char *path, enum unwinding by,
		   const struct tally *tally, const char *flaw)
{
	/* few enough that the rest is not told by chance, and much was tried */
	bool good = !flaw && !tally->wrong && tally->exact > tally->steps / 2 &&
		    tally->longest_prologue <= LEAF_MAX && tally->armed > 1000 &&
		    tally->async > 5000 && tally->rejoined > 500 &&
		    tally->in_switch > 1000 && tally->no_cfi >= machine_no_cfi_min &&
		    20 * tally->no_cfi < tally->steps;

	if (by == BY_CODE)
		good &= tally->by_code > 1000;
	if (by == BY_TABLE)
		good &= !tally->prologue && tally->signals > 200 &&
			tally->in_handler > 2000;
	printf("%sok %d - %s at every instruction\n", good ? "" : "not ", number, path);
	printf("# %lu instructions: %lu exact, %lu by code, %lu fp-prologue (%.1f %%, at "
	       "most %d in a "
	       "row), %lu switch, %lu without CFI, %lu wrong\n",
	       (unsigned long)tally->steps, (unsigned long)tally->exact,
	       (unsigned long)tally->by_code, (unsigned long)tally->prologue,
	       100.0 * tally->prologue / (tally->steps ? tally->steps : 1),
	       tally->longest_prologue, (unsigned long)tally->in_switch,
	       (unsigned long)tally->no_cfi, (unsigned long)tally->wrong);
	printf("# %lu armed, %lu with chains, %lu rejoined, %lu signals, %lu in "
	       "handlers\n",
	       (unsigned long)tally->armed, (unsigned long)tally->async,
	       (unsigned long)tally->rejoined, (unsigned long)tally->signals,
	       (unsigned long)tally->in_handler);
	if (flaw)
		printf("# %s\n", flaw);
	return good;
}

/* That this witness sees anything at all: what is taken away is missed. */
static bool control(int number, const char *path, bool hide_key, const char *name)
{
	struct way way = { .hide_key = hide_key, .is_control = true };
	struct tally tally;
	const char *flaw = step_program(path, BY_TABLE, &way, &tally);
	bool good = !flaw && tally.wrong > WRONG_ENOUGH;

	printf("%sok %d - without %s it is not the truth\n", good ? "" : "not ", number,
	       name);
	if (flaw)
		printf("# %s\n", flaw);
	return good;
}

static bool run_controls(int number, const char *path)
{
	bool good = control(number, path, true, "the key");

	knobs.tables = 0;
	good &= control(number + 1, path, false, "tables");
	knobs.tables = 1;
	knobs.faults = FAULT_FP_LEAF;
	good &= control(number + 2, path, false, "a table for the leaf");
	return good;
}

int main(int argc, char **argv)
{
	const char *last = NULL;
	enum unwinding by = BY_FP;
	bool good = true;
	int number = 0, controls = 3;
	struct tally tally;

	walker_default_knobs();
	fp_gives_sp = machine_fp_gives_sp;
	for (int i = 1; i < argc; i++) {
		struct way way = { 0 };

		if (!strncmp(argv[i], "--", 2)) {
			by = !strcmp(argv[i], "--tables") ? BY_TABLE
			     : !strcmp(argv[i], "--code") ? BY_CODE
							  : BY_FP;
			knobs.tables = by != BY_FP;
			continue;
		}
		last = by == BY_TABLE ? argv[i] : last;
		good &= report(++number, argv[i], by, &tally,
			       step_program(argv[i], by, &way, &tally));
	}
	knobs.tables = 1;
	good &= last && run_controls(number + 1, last);
	printf("1..%d\n", number + controls);
	return good ? 0 : 1;
}
