// SPDX-License-Identifier: BSD-2-Clause
#include "judge.h"

#include "machine.h"
#include "walker.h"

#include "codes.h"
#include "core/sample.h"

#include <stdio.h>
#include <string.h>

#define SWITCH_SKIPS 2 /* a stack's bottom and its entry, before their first */

/* The walker's word on one instruction. */
struct walked {
	struct addresses thread, async;
	const char *flaw;
};

/* That a fiber was resumed is said behind its stack's first function, nowhere else. */
static bool is_resumer(const struct tracer *t, uint32_t code,
		       const struct addresses *so_far)
{
	uint64_t last = so_far->n ? so_far->at[so_far->n - 1] : 0;

	return code == (VIEW_BOUNDARY | BOUNDARY_FIBER) && last >= t->shadow.switch_end &&
	       last < t->shadow.made_end;
}

static void read_view(const struct tracer *t, const struct sample_rec *rec,
		      const struct view_stack *stack, enum view view,
		      struct addresses *ret)
{
	static uint32_t out[VIEW_ROOM(CODES_MAX)];
	struct view_notes notes;
	size_t shown = view_read(stack, view, out, &notes);

	if (rec->ending == END_BROKEN && shown) /* walked, and no frame */
		shown -= out[shown - 1] == VIEW_CUT;
	ret->n = 0;
	for (size_t i = 0; i < shown && i < 2 * TRUTH_FRAMES; i++) {
		uint32_t kind = out[i] & CODE_KIND;

		if (!kind)
			ret->at[ret->n++] = FRAME_ADDR(rec->words[out[i]]);
		else if (!is_resumer(t, out[i], ret))
			ret->at[ret->n++] = ~0ULL - (kind != VIEW_BOUNDARY);
	}
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

static bool by_table(const struct way *way)
{
	return way->process_info.mapping_table && !way->by_code;
}

/* Does the walk end as one of a whole stack? */
static bool is_whole(const struct tracer *t, const struct sample_rec *rec,
		     const struct way *way)
{
	if (by_table(way))
		return rec->ending == END_START;
	if (way->by_code && rec->ending == END_FP_ZERO)
		return true;
	/* where no frame is yet, a register of 0 must not pass for a start */
	return rec->ending == (t->fp ? END_FP_ZERO : END_BROKEN);
}

static const struct sample_rec *ask(const struct tracer *t, const struct way *way,
				    struct walked *walked)
{
	static uint32_t codes[CODES_MAX];
	struct sampled at = { .pc = t->pc, .sp = t->sp, .fp = t->fp, .lr = t->lr };
	const struct sample_rec *rec;
	struct view_stack stack;

	at.roots[0] = way->hide_key ? 0 : current_root(t);
	at.process_info = way->process_info;
	memcpy(at.regs, t->regs, sizeof(at.regs));
	rec = walker_sample(&at);
	walked->flaw = NULL;
	if (sample_check(rec, SAMPLE_HEADER_BYTES + 8 * rec->n_words) || !walker_ended())
		walked->flaw = "a record that is none";
	else if (!is_whole(t, rec, way))
		walked->flaw = "a walk that does not reach the start";
	stack = (struct view_stack){ codes, record_codes(rec, codes), NULL };
	read_view(t, rec, &stack, VIEW_THREAD, &walked->thread);
	read_view(t, rec, &stack, VIEW_UNLABELLED, &walked->async);
	return rec;
}

static bool same(const struct addresses *a, const struct addresses *b)
{
	return a->n == b->n && !memcmp(a->at, b->at, a->n * sizeof(*a->at));
}

/* Is it what these frames and one of these meanings make? */
static bool is_true(const struct walked *walked, const struct truth_frame *frames,
		    size_t n, size_t skipped, const struct meaning *was,
		    const struct meaning *is)
{
	static struct addresses want;

	truth_thread(frames, n, skipped, &want);
	if (!same(&walked->thread, &want))
		return false;
	truth_async(frames, n, skipped, was, &want);
	if (same(&walked->async, &want))
		return true;
	truth_async(frames, n, skipped, is, &want);
	return same(&walked->async, &want);
}

static bool is_switch(const struct tracer *t, uint64_t pc)
{
	return pc >= t->shadow.switch_start && pc < t->shadow.switch_end;
}

static bool in_switch(const struct tracer *t)
{
	return is_switch(t, t->pc);
}

/* The frame that is in the code that changes stacks; n: none. */
static size_t find_switch(const struct tracer *t, const struct truth_frame *frames,
			  size_t n)
{
	size_t i = 0;

	while (i < n && !is_switch(t, frames[i].pc))
		i++;
	return i;
}

/* The switch as a function that was called where that stack goes on, as tables may
 * have it. */
static size_t frames_through_switch(const struct tracer *t, int stack,
				    struct truth_frame *frames)
{
	static struct truth_frame more[TRUTH_FRAMES];
	size_t n = truth_frames(t, t->stack, frames), at = find_switch(t, frames, n);
	size_t n_more = n - at;

	if (at == n)
		return n;
	memcpy(more, &frames[at], n_more * sizeof(*more));
	if (stack != t->stack)
		n_more = truth_frames(t, stack, more);
	more[0].pc = tracer_place(t, stack);
	frames[at] = (struct truth_frame){ .pc = frames[at].pc };
	at++;
	for (size_t i = 0; i < n_more && at < TRUTH_FRAMES; i++)
		frames[at++] = more[i];
	return at;
}

static bool true_through_switch(const struct tracer *t, const struct walked *walked,
				const struct meanings *meanings)
{
	static struct truth_frame frames[TRUTH_FRAMES];
	const int stacks[] = { t->stack, t->previous };

	for (int i = 0; i < 2; i++) {
		size_t n = frames_through_switch(t, stacks[i], frames);

		if (is_true(walked, frames, n, 0, &meanings->was, &meanings->is))
			return true;
	}
	return false;
}

static bool true_in_switch(const struct tracer *t, const struct walked *walked,
			   const struct meanings *meanings)
{
	static struct truth_frame frames[TRUTH_FRAMES];
	const int stacks[] = { t->stack, t->previous };

	for (int i = 0; i < 2; i++) {
		size_t n = truth_frames(t, stacks[i], frames);

		for (size_t skipped = 0; skipped <= SWITCH_SKIPS; skipped++) {
			if (is_true(walked, frames, n, skipped, &meanings->was,
				    &meanings->was))
				return true;
		}
	}
	return machine_tells_switch && true_through_switch(t, walked, meanings);
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

static void complain(const struct tracer *t, const struct walked *walked,
		     const struct truth_frame *frames, size_t n,
		     const struct meaning *meaning)
{
	static struct addresses want;

	printf("# at %lx, armed %lu: %s\n", (unsigned long)t->pc,
	       (unsigned long)t->shadow.armed,
	       walked->flaw ? walked->flaw : "not the truth");
	truth_async(frames, n, 0, meaning, &want);
	print_list("truth: ", &want);
	print_list("async: ", &walked->async);
	print_list("thread:", &walked->thread);
}

/* Is there code on the stack that nothing says how to unwind? */
static bool is_no_cfi(const struct tracer *t, const struct truth_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = frames[i].pc;

		if (i && is_switch(t, pc) && !machine_tells_switch) /* interrupted */
			return true;
		if (pc >= t->shadow.jump_start && pc < t->shadow.jump_end)
			return true;
	}
	return false;
}

static bool judge_by_table(const struct tracer *t, const struct walked *walked,
			   const struct truth_frame *frames, size_t n,
			   const struct meanings *meanings)
{
	if (find_switch(t, frames, n) < n) /* and interrupted */
		return true_through_switch(t, walked, meanings);
	return is_true(walked, frames, n, 0, &meanings->was, &meanings->is);
}

/* What frame pointers alone must show, and what code may add. */
static bool judge_fp(const struct tracer *t, const struct walked *walked,
		     const struct truth_frame *frames, size_t n,
		     const struct meanings *meanings, const struct way *way,
		     struct tally *tally)
{
	bool has_its_own = machine_is_frame(&frames[0], t->fp), good = false;

	if (has_its_own || memcmp(&tally->last, tracer_top(t), sizeof(tally->last)))
		tally->in_prologue = 0;
	tally->in_prologue += !has_its_own;
	tally->last = *tracer_top(t);
	if (has_its_own) {
		good = is_true(walked, frames, n, 0, &meanings->was, &meanings->is);
		tally->exact += good;
	} else if (way->by_code &&
		   is_true(walked, frames, n, 0, &meanings->was, &meanings->is)) {
		good = true;
		tally->by_code++;
	} else if (n > 1 && machine_is_frame(&frames[1], t->fp)) {
		good = is_true(walked, frames, n, 1, &meanings->was, &meanings->is);
		tally->prologue += good;
		if (tally->in_prologue > tally->longest_prologue)
			tally->longest_prologue = tally->in_prologue;
	}
	return good;
}

static void count(const struct tracer *t, const struct sample_rec *rec,
		  struct tally *tally)
{
	tally->steps++;
	tally->armed += t->shadow.armed;
	tally->in_handler += t->handlers > 0;
	tally->signals = t->signalled;
	tally->async += !!(rec->flags & SAMPLE_ASYNC);
	for (unsigned int i = 0; i < rec->n_words; i++)
		tally->rejoined += FRAME_KIND(rec->words[i]) == FRAME_SEGMENT &&
				   SEGMENT_ENDING(rec->words[i]) == END_REJOINED;
}

void judge(const struct tracer *t, const struct meanings *meanings, const struct way *way,
	   struct tally *tally)
{
	static struct truth_frame frames[TRUTH_FRAMES];
	static struct walked walked;
	const struct sample_rec *rec = ask(t, way, &walked);
	size_t n = truth_frames(t, t->stack, frames);
	bool good = false;

	count(t, rec, tally);
	if (is_no_cfi(t, frames, n)) {
		/* so nobody may say that it is proven */
		good = walked.flaw || rec->flags & SAMPLE_UNPROVEN;
		tally->no_cfi += good;
	} else if (walked.flaw) {
		good = false;
	} else if (in_switch(t)) {
		good = true_in_switch(t, &walked, meanings);
		tally->in_switch += good;
	} else if (by_table(way)) {
		good = judge_by_table(t, &walked, frames, n, meanings) &&
		       !(rec->flags & SAMPLE_UNPROVEN);
		tally->exact += good;
	} else {
		good = judge_fp(t, &walked, frames, n, meanings, way, tally);
	}
	if (rec->flags & SAMPLE_UNMATCHED && !t->shadow.armed &&
	    (by_table(way) || !in_switch(t)))
		good = false;
	if (!good && !tally->wrong++ && !way->is_control)
		complain(t, &walked, frames, n, &meanings->was);
}
