// SPDX-License-Identifier: BSD-2-Clause
/*
 * oracle PROGRAM…: steps each program and takes a sample at every instruction,
 * by the native build of the walker over the live process. Of each sample both
 * views must be the truth:
 *
 *   exact	the function at hand has its frame pointer
 *   fp-prologue	it has not yet, or no longer, or is a leaf that gcc gives none:
 *		then its caller, and nobody else, is missing, as frame pointers
 *		alone must have it
 *   switch	inside the code that changes stacks: of one stack or of the other,
 *		with callers of the switch missing at most
 *
 * While the program changes its async structures, their old meaning or the new
 * one; never both, never another. TAP on stdout.
 */
#include "truth.h"
#include "walker.h"

#include "codes.h"
#include "core/sample.h"

#include <stdio.h>
#include <string.h>

#define LEAF_MOST    64	  /* instructions of a function without a frame, here */
#define WRONG_ENOUGH 5000 /* to say that a control fails as it must */
#define SWITCH_SKIPS 2	  /* a stack's bottom and its entry, before their first */

struct tally {
	uint64_t steps, exact, prologue, in_switch, armed, async, wrong;
	uint64_t rejoined;
	int longest_prologue;
};

/* The walker's word on one instruction. */
struct told {
	struct addresses thread, async;
	const char *flaw;
};

static void read_view(const struct sample_rec *rec, const uint32_t *codes, size_t n,
		      enum view view, struct addresses *ret)
{
	static uint32_t out[VIEW_ROOM(CODES_MOST)];
	struct view_notes notes;
	size_t shown = view_read(codes, n, view, NULL, out, &notes);

	if (rec->ending == END_BROKEN && shown) /* told, and no frame */
		shown -= out[shown - 1] == VIEW_CUT;
	ret->n = 0;
	for (size_t i = 0; i < shown && i < 2 * TRUTH_FRAMES; i++)
		ret->at[ret->n++] =
			out[i] & CODE_KIND
				? ~0ULL - ((out[i] & CODE_KIND) != VIEW_BOUNDARY)
				: FRAME_ADDR(rec->words[out[i]]);
}

static __u64 current_root(const struct tracer *t)
{
	uint32_t key = ~0u;
	uint64_t holder = 0, root = 0;

	tracer_read(t, &key, sizeof(key), t->shadow.key_addr);
	if (key >= 8)
		return 0;
	tracer_read(t, &holder, sizeof(holder), t->shadow.slots_addr + 8 * key);
	tracer_read(t, &root, sizeof(root), holder);
	return root;
}

static const struct sample_rec *ask(const struct tracer *t, bool hide_key,
				    struct told *told)
{
	static uint32_t codes[CODES_MOST];
	struct sampled at = { .pc = t->pc, .sp = t->sp, .fp = t->fp };
	const struct sample_rec *rec;
	size_t n;

	at.roots[0] = hide_key ? 0 : current_root(t);
	rec = walker_sample(&at);
	told->flaw = NULL;
	if (sample_check(rec, SAMPLE_HEADER_BYTES + 8 * rec->n_words) || !walker_ended())
		told->flaw = "a record that is none";
	/* where no frame is yet, a register of 0 must not pass for a start */
	else if (rec->ending != (t->fp ? END_FP_ZERO : END_BROKEN))
		told->flaw = "a walk that does not reach the start";
	n = record_codes(rec, codes);
	read_view(rec, codes, n, VIEW_THREAD, &told->thread);
	read_view(rec, codes, n, VIEW_ASYNC, &told->async);
	return rec;
}

static bool same(const struct addresses *a, const struct addresses *b)
{
	return a->n == b->n && !memcmp(a->at, b->at, a->n * sizeof(*a->at));
}

/* Is it what these frames and one of these meanings make? */
static bool is_true(const struct told *told, const struct truth_frame *frames, size_t n,
		    size_t skipped, const struct meaning *was, const struct meaning *is)
{
	static struct addresses want;

	truth_thread(frames, n, skipped, &want);
	if (!same(&told->thread, &want))
		return false;
	truth_async(frames, n, skipped, was, &want);
	if (same(&told->async, &want))
		return true;
	truth_async(frames, n, skipped, is, &want);
	return same(&told->async, &want);
}

static bool in_switch(const struct tracer *t)
{
	return t->pc >= t->shadow.switch_start && t->pc < t->shadow.switch_end;
}

static bool true_in_switch(const struct tracer *t, const struct told *told,
			   const struct meaning *meaning)
{
	static struct truth_frame frames[TRUTH_FRAMES];
	const int stacks[] = { t->stack, t->previous };

	for (int i = 0; i < 2; i++) {
		size_t n = truth_frames(t, stacks[i], frames);

		for (size_t skipped = 0; skipped <= SWITCH_SKIPS; skipped++) {
			if (is_true(told, frames, n, skipped, meaning, meaning))
				return true;
		}
	}
	return false;
}

static void print_list(const char *what, const struct addresses *list)
{
	printf("# %s", what);
	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i] >= SEAM - 1)
			printf(" %s", list->at[i] == SEAM ? "--" : "cut");
		else
			printf(" %lx", (unsigned long)list->at[i]);
	}
	printf("\n");
}

static void complain(const struct tracer *t, const struct told *told,
		     const struct truth_frame *frames, size_t n,
		     const struct meaning *meaning)
{
	static struct addresses want;

	printf("# at %lx, armed %lu: %s\n", (unsigned long)t->pc,
	       (unsigned long)t->shadow.armed, told->flaw ? told->flaw : "not the truth");
	truth_async(frames, n, 0, meaning, &want);
	print_list("truth: ", &want);
	print_list("async: ", &told->async);
	print_list("thread:", &told->thread);
}

/* One instruction, judged. was: the meaning before; is: what it becomes. */
static void judge(const struct tracer *t, const struct meaning *was,
		  const struct meaning *is, bool hide_key, struct tally *tally)
{
	static struct truth_frame frames[TRUTH_FRAMES];
	static struct told told;
	static struct activation last;
	static int prologue;
	const struct sample_rec *rec = ask(t, hide_key, &told);
	size_t n = truth_frames(t, t->stack, frames);
	bool good = false;

	tally->steps++;
	tally->armed += t->shadow.armed;
	tally->async += !!(rec->flags & SAMPLE_ASYNC);
	for (unsigned int i = 0; i < rec->n_words; i++)
		tally->rejoined += FRAME_KIND(rec->words[i]) == FRAME_SEGMENT &&
				   SEGMENT_ENDING(rec->words[i]) == END_REJOINED;
	if (t->fp == frames[0].fp || memcmp(&last, tracer_top(t), sizeof(last)))
		prologue = 0;
	prologue += t->fp != frames[0].fp;
	last = *tracer_top(t);
	if (told.flaw) {
		good = false;
	} else if (in_switch(t)) {
		good = true_in_switch(t, &told, was);
		tally->in_switch += good;
	} else if (t->fp == frames[0].fp) {
		good = is_true(&told, frames, n, 0, was, is);
		tally->exact += good;
	} else if (n > 1 && t->fp == frames[1].fp) {
		good = is_true(&told, frames, n, 1, was, is);
		tally->prologue += good;
		if (prologue > tally->longest_prologue)
			tally->longest_prologue = prologue;
	}
	if (rec->flags & SAMPLE_UNMATCHED && !t->shadow.armed && !in_switch(t))
		good = false;
	if (!good && !tally->wrong++ && !hide_key)
		complain(t, &told, frames, n, was);
}

/* Steps one program to its end. NULL, or why that did not go well. */
static const char *step_program(const char *path, bool hide_key, struct tally *tally)
{
	static struct tracer t;
	static struct meaning was, is;
	bool armed = false;

	memset(tally, 0, sizeof(*tally));
	was.n = is.n = 0;
	if (tracer_start(&t, path)) {
		tracer_lend_memory(&t);
		while (tracer_step(&t)) {
			if (t.shadow.armed && !armed && !meaning_change(&is, &t))
				t.flaw = "a change that cannot be";
			if (!t.shadow.armed && armed)
				was = is;
			armed = t.shadow.armed;
			if (t.flaw || tally->wrong > WRONG_ENOUGH)
				break;
			judge(&t, &was, &is, hide_key, tally);
		}
	}
	tracer_stop(&t);
	return t.flaw;
}

static bool report(int number, const char *path, const struct tally *tally,
		   const char *flaw)
{
	/* few enough that the rest is not told by chance, and much was tried */
	bool good = !flaw && !tally->wrong && tally->exact > tally->steps / 2 &&
		    tally->longest_prologue <= LEAF_MOST && tally->armed > 1000 &&
		    tally->async > 5000 && tally->rejoined > 500 &&
		    tally->in_switch > 1000;

	printf("%sok %d - %s at every instruction\n", good ? "" : "not ", number, path);
	printf("# %lu instructions: %lu exact, %lu fp-prologue (%.1f %%, at most %d in a "
	       "row), %lu switch, %lu wrong; %lu armed, %lu with chains, %lu rejoined\n",
	       (unsigned long)tally->steps, (unsigned long)tally->exact,
	       (unsigned long)tally->prologue,
	       100.0 * tally->prologue / (tally->steps ? tally->steps : 1),
	       tally->longest_prologue, (unsigned long)tally->in_switch,
	       (unsigned long)tally->wrong, (unsigned long)tally->armed,
	       (unsigned long)tally->async, (unsigned long)tally->rejoined);
	if (flaw)
		printf("# %s\n", flaw);
	return good;
}

int main(int argc, char **argv)
{
	bool good = argc > 1;
	struct tally tally;
	const char *flaw;

	walker_default_knobs();
	printf("1..%d\n", argc);
	for (int i = 1; i < argc; i++) {
		flaw = step_program(argv[i], false, &tally);
		good &= report(i, argv[i], &tally, flaw);
	}
	/* that this witness sees anything at all */
	flaw = argc > 1 ? step_program(argv[1], true, &tally) : "no program";
	printf("%sok %d - without the key it is not the truth\n",
	       !flaw && tally.wrong > WRONG_ENOUGH ? "" : "not ", argc);
	good &= !flaw && tally.wrong > WRONG_ENOUGH;
	return good ? 0 : 1;
}
