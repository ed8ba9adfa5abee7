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

#define TRIALS_MAX 32

/* How a program is sampled at each instruction, and what came of it. */
struct trial {
	const char *path;
	enum unwinding by;
	bool hides_tables;
	struct way way;
	struct tally tally;
	const char *flaw;
	bool is_done;
};

static bool prepare(struct trial *trial, const struct tracer *t)
{
	memset(&trial->tally, 0, sizeof(trial->tally));
	trial->way.by_code = trial->by == BY_CODE;
	if (trial->by == BY_CODE)
		tables_publish_none(&t->shadow, &trial->way.process_info);
	return trial->by != BY_TABLE ||
	       tables_publish(trial->path, &t->shadow, &trial->way.process_info);
}

/* false: one of them has seen enough. */
static bool judge_all(const struct tracer *t, const struct meanings *meanings,
		      struct trial **trials, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (trials[i]->tally.wrong > WRONG_ENOUGH)
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		knobs.tables = trials[i]->by != BY_FP && !trials[i]->hides_tables;
		judge(t, meanings, &trials[i]->way, &trials[i]->tally);
	}
	return true;
}

/* Steps a program to its end, once for all n trials of it. */
static void step_program(struct trial **trials, size_t n)
{
	static struct tracer t;
	static struct meanings meanings;
	bool armed = false;

	meanings.was.n = meanings.is.n = 0;
	if (tracer_start(&t, trials[0]->path)) {
		tracer_lend_memory(&t);
		for (size_t i = 0; i < n; i++) {
			if (!prepare(trials[i], &t))
				t.flaw = "no unwind table";
			if (trials[i]->by == BY_TABLE)
				t.signal_every = SIGNAL_EVERY;
		}
		while (!t.flaw && tracer_step(&t)) {
			if (t.shadow.armed && !armed && !meaning_change(&meanings.is, &t))
				t.flaw = "a change that cannot be";
			if (!t.shadow.armed && armed)
				meanings.was = meanings.is;
			armed = t.shadow.armed;
			if (t.flaw || !judge_all(&t, &meanings, trials, n))
				break;
		}
	}
	tracer_stop(&t);
	for (size_t i = 0; i < n; i++) {
		trials[i]->flaw = t.flaw;
		trials[i]->is_done = true;
	}
}

static bool report(int number, const struct trial *trial)
{
	const struct tally *tally = &trial->tally;
	const char *flaw = trial->flaw;
	/* few enough that the rest is not told by chance, and much was tried */
	bool good = !flaw && !tally->wrong && tally->exact > tally->steps / 2 &&
		    tally->longest_prologue <= LEAF_MAX && tally->armed > 1000 &&
		    tally->async > 5000 && tally->rejoined > 500 &&
		    tally->in_switch > 1000 && tally->no_cfi >= machine_no_cfi_min &&
		    20 * tally->no_cfi < tally->steps;

	if (trial->by == BY_CODE)
		good &= tally->by_code > 1000;
	if (trial->by == BY_TABLE)
		good &= !tally->prologue && tally->signals > 200 &&
			tally->in_handler > 2000;
	printf("%sok %d - %s at every instruction\n", good ? "" : "not ", number,
	       trial->path);
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
static bool control(int number, struct trial trial, const char *name)
{
	bool good;

	trial.by = BY_TABLE;
	trial.way.is_control = true;
	step_program((struct trial *[]){ &trial }, 1);
	good = !trial.flaw && trial.tally.wrong > WRONG_ENOUGH;
	printf("%sok %d - without %s it is not the truth\n", good ? "" : "not ", number,
	       name);
	if (trial.flaw)
		printf("# %s\n", trial.flaw);
	return good;
}

static bool run_controls(int number, const char *path)
{
	struct trial plain = { .path = path }, hidden = { .path = path };
	bool good;

	plain.way.hide_key = true;
	good = control(number, plain, "the key");
	plain.way.hide_key = false;
	hidden.hides_tables = true;
	good &= control(number + 1, hidden, "tables");
	knobs.faults = FAULT_FP_LEAF;
	good &= control(number + 2, plain, "a table for the leaf");
	return good;
}

static size_t read_arguments(char **argv, struct trial *trials)
{
	enum unwinding by = BY_FP;
	size_t n = 0;

	for (; *argv; argv++) {
		if (!strncmp(*argv, "--", 2))
			by = !strcmp(*argv, "--tables") ? BY_TABLE
			     : !strcmp(*argv, "--code") ? BY_CODE
							: BY_FP;
		else if (n < TRIALS_MAX)
			trials[n++] = (struct trial){ .path = *argv, .by = by };
		else
			return 0;
	}
	return n;
}

/* Signals come with tables alone, so such a program is stepped by itself. */
static void run(struct trial *first, struct trial *end)
{
	struct trial *same[TRIALS_MAX];
	size_t n = 0;

	if (first->is_done)
		return;
	for (struct trial *other = first; other < end; other++) {
		if (!strcmp(other->path, first->path) &&
		    (other->by == BY_TABLE) == (first->by == BY_TABLE))
			same[n++] = other;
	}
	step_program(same, n);
}

int main(int argc, char **argv)
{
	static struct trial trials[TRIALS_MAX];
	size_t n = read_arguments(argv + 1, trials);
	bool good = n && trials[n - 1].by == BY_TABLE;

	walker_default_knobs();
	fp_gives_sp = machine_fp_gives_sp;
	for (size_t i = 0; i < n; i++) {
		run(&trials[i], &trials[n]);
		good &= report((int)i + 1, &trials[i]);
	}
	good &= n && run_controls((int)n + 1, trials[n - 1].path);
	printf("1..%zu\n", n + 3);
	return good ? 0 : 1;
}
