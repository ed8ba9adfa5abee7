/* SPDX-License-Identifier: BSD-2-Clause */
#include "judge.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAD_MAX 8 /* frames of libc that start a thread, and what they leave */
#define STARTERS                                                                         \
	"_start|_start_c|__libc_start_main|__libc_start_main_impl|"                      \
	"__libc_start_call_main|libc_start_main_stage2|start|start_thread|clone|clone3|" \
	"__clone|__clone3|thread_start|__start_context"
#define HELPER_PREFIX "weft_"
#define RECORDER      "weft" /* a child before its exec */
#define SHOWN_MAX     3	     /* stacks that a view tells of */

static const struct {
	double most;
	const char *word;
} class_info[N_CLASSES] = {
#define X(name, most, word, meaning) { most, word },
	CLASSES(X)
#undef X
};

static int add_rule(struct judge *judge, enum view view, const char *text,
		    enum stack_class as)
{
	struct rule rule = { .as = as };
	int err = path_parse(&rule.path, text);

	if (!err)
		err = vec_push(&judge->rules[view], rule);
	if (err)
		path_free(&rule.path);
	return err;
}

int judge_open(struct judge *ret, const struct truth_case *of)
{
	int err = 0;

	*ret = (struct judge){ .of = of };
	for (int view = 0; view < N_VIEWS && !err; view++) {
		const struct allowed *allowed =
			view == VIEW_ASYNC && of->async[0].path ? of->async : of->thread;

		for (size_t i = 0; i < PATHS_MAX && allowed[i].path && !err; i++)
			err = add_rule(ret, view, allowed[i].path, allowed[i].as);
	}
	if (!err && of->more)
		err = of->more(add_rule, ret);
	if (err)
		judge_close(ret);
	return err;
}

void judge_close(struct judge *judge)
{
	for (int view = 0; view < N_VIEWS; view++) {
		for (size_t i = 0; i < judge->rules[view].n; i++)
			path_free(&judge->rules[view].items[i].path);
		vec_free(&judge->rules[view]);
	}
}

static bool is_declared(const struct judge *judge, const char *frame)
{
	for (int view = 0; view < N_VIEWS; view++)
		for (size_t i = 0; i < judge->rules[view].n; i++)
			if (path_names(&judge->rules[view].items[i].path, frame))
				return true;
	return false;
}

static bool is_word(const char *frame)
{
	return !strcmp(frame, SEAM) || !strcmp(frame, GAP_FRAME);
}

/* A stack as it is matched: some of a sample's frames. */
struct stack {
	const char *const *frames;
	size_t n;
	size_t lead; /* of them, what comes before the workload's own */
	bool cut;
	bool in_kernel; /* as an ending process is, whose memory is gone */
};

static struct stack stack_of(const struct judge *judge, const char *const *frames,
			     size_t n)
{
	struct stack stack = { frames, n, 0, n && !strcmp(frames[0], CUT_FRAME), false };
	size_t i = stack.cut;

	while (i < n && i < LEAD_MAX && !is_word(frames[i]) &&
	       !is_declared(judge, frames[i]))
		i++;
	stack.lead = i;
	return stack;
}

/* A stripped program's _start has no name: "chain!0x1090". */
static bool is_nameless_start(const struct judge *judge, const char *frame)
{
	size_t n = strlen(judge->of->program);

	return !strncmp(frame, judge->of->program, n) && !strncmp(frame + n, "!0x", 3);
}

/* Is what comes before the workload's own frames as a walk by tables has it? */
static bool is_well_started(const struct judge *judge, const struct stack *stack)
{
	for (size_t i = 0; i < stack->lead; i++)
		if (!path_is_one_of(STARTERS, stack->frames[i]) &&
		    (i || !is_nameless_start(judge, stack->frames[i])))
			return false;
	return true;
}

/* main() reads its arguments before anything else, and says how long it lives; the C
 * library's functions for that may be called for the first time, or wait for their
 * page. */
static bool reads_arguments(const struct judge *judge, const struct stack *stack)
{
	const char *const *own = stack->frames + stack->lead;

	return !stack->cut && stack->n >= stack->lead + 2 && !strcmp(own[0], "main") &&
	       (strstr(own[1], "strcmp") || strstr(own[1], "strto") ||
		!strcmp(own[1], "atoi") || !strcmp(own[1], "prctl")) &&
	       is_well_started(judge, stack);
}

/* In the view's table, whole. N_CLASSES: not there. */
static enum stack_class find_whole(const struct judge *judge, enum view view,
				   const struct stack *stack)
{
	for (size_t i = 0; i < judge->rules[view].n; i++) {
		const struct rule *rule = &judge->rules[view].items[i];
		size_t skip = rule->path.rooted ? 0 : stack->lead;

		if (!path_fits(&rule->path, stack->frames + skip, stack->n - skip))
			continue;
		if (rule->as == CLASS_EXACT && skip && !is_well_started(judge, stack))
			return CLASS_FP_START;
		return rule->as;
	}
	return N_CLASSES;
}

static bool has_gap(const struct stack *stack)
{
	for (size_t i = 0; i < stack->n; i++)
		if (!strcmp(stack->frames[i], GAP_FRAME))
			return true;
	return false;
}

static bool find_cut(const struct judge *judge, enum view view, const struct stack *stack)
{
	if (!stack->cut || (stack->n - 1 < judge->of->cut_frames && !stack->in_kernel &&
			    judge->awaited < 1))
		return false;
	for (size_t i = 0; i < judge->rules[view].n; i++)
		if (path_fits_cut(&judge->rules[view].items[i].path, stack->frames + 1,
				  stack->n - 1))
			return true;
	return false;
}

#define FRAMES_MAX 2048

/* The same with a caller of the leaf, which is missing. */
static bool fits_with_caller(const struct judge *judge, enum view view,
			     const struct stack *stack, size_t at)
{
	const char *frames[FRAMES_MAX];
	struct stack more = *stack;

	if (stack->n + 1 > FRAMES_MAX || at < stack->lead || !stack->n)
		return false;
	memcpy(frames, stack->frames, at * sizeof(*frames));
	frames[at] = ANY_FRAME;
	memcpy(frames + at + 1, stack->frames + at, (stack->n - at) * sizeof(*frames));
	more.frames = frames;
	more.n = stack->n + 1;
	return find_whole(judge, view, &more) != N_CLASSES ||
	       find_cut(judge, view, &more);
}

/* Leaves that are not the workload's own: of async.h, or of a library. */
static enum stack_class find_foreign_leaf(const struct judge *judge, enum view view,
					  const struct stack *stack)
{
	struct stack own = *stack;
	const char *leaf;

	while (own.n > own.lead && !is_word(own.frames[own.n - 1]) &&
	       !is_declared(judge, own.frames[own.n - 1]))
		own.n--;
	if (own.n == stack->n)
		return N_CLASSES;
	leaf = stack->frames[stack->n - 1];
	if (!strncmp(leaf, HELPER_PREFIX, strlen(HELPER_PREFIX))) {
		if (find_whole(judge, view, &own) != N_CLASSES)
			return CLASS_HELPER;
		/* called by the dispatcher itself, whose place the chain takes */
		if (judge->by_table && view == VIEW_ASYNC && own.n &&
		    !strcmp(own.frames[own.n - 1], SEAM) &&
		    fits_with_caller(judge, view, &own, own.n))
			return CLASS_HELPER;
		if (fits_with_caller(judge, view, &own, own.n))
			return CLASS_FP_LEAF;
	}
	if (judge->by_table && find_whole(judge, view, &own) == CLASS_EXACT)
		return CLASS_LIBRARY;
	if (find_whole(judge, view, &own) != N_CLASSES || find_cut(judge, view, &own) ||
	    fits_with_caller(judge, view, &own, own.n))
		return CLASS_FP_LIBC;
	return N_CLASSES;
}

static bool is_fp_class(enum stack_class is)
{
	return is >= CLASS_FP_LEAF && is <= CLASS_FP_SKIP;
}

/* N_CLASSES: this view's table knows no such stack. What is missing where a gap is
 * marked was told. */
static enum stack_class find_in_view(const struct judge *judge, enum view view,
				     const struct stack *stack)
{
	enum stack_class is = find_whole(judge, view, stack);

	if (is == N_CLASSES && find_cut(judge, view, stack))
		is = CLASS_CUT;
	if (is == N_CLASSES && stack->n &&
	    fits_with_caller(judge, view, stack, stack->n - 1))
		is = CLASS_FP_LEAF;
	if (is == N_CLASSES)
		is = find_foreign_leaf(judge, view, stack);
	if ((is == CLASS_EXACT || is == CLASS_LIBRARY || is_fp_class(is)) &&
	    has_gap(stack))
		is = CLASS_GAP;
	return is;
}

static bool has_own_frame(const struct judge *judge, const struct folded_stack *line)
{
	for (size_t i = 0; i < line->n_user; i++)
		if (is_word(line->frames.items[i]) ||
		    is_declared(judge, line->frames.items[i]))
			return true;
	return false;
}

/* The kernel writes a thread's name without regard to interrupts: half of an old one and
 * half of a new one is what there is. */
static bool is_being_named(const struct folded_stack *line)
{
	for (size_t i = line->n_user; i < line->frames.n; i++)
		if (!strcmp(line->frames.items[i], "__set_task_comm_[k]"))
			return true;
	return false;
}

static enum stack_class classify(const struct judge *judge, enum view view,
				 const struct folded_stack *line)
{
	const char *comms = judge->of->comms ? judge->of->comms : judge->of->program;
	struct stack stack = stack_of(judge, line->frames.items, line->n_user);
	enum stack_class is;

	stack.in_kernel = line->n_user < line->frames.n;
	if (!has_own_frame(judge, line))
		return path_is_one_of(comms, line->comm) ||
				       !strcmp(line->comm, RECORDER) ||
				       is_being_named(line)
			       ? CLASS_START
			       : CLASS_FALSE;
	if (!path_is_one_of(comms, line->comm))
		return CLASS_FALSE;
	if (reads_arguments(judge, &stack))
		return CLASS_START;
	is = find_in_view(judge, view, &stack);
	if (is != N_CLASSES)
		return is;
	if (view == VIEW_ASYNC && find_in_view(judge, VIEW_THREAD, &stack) != N_CLASSES)
		return CLASS_UNSPLICED;
	return CLASS_FALSE;
}

static void tell_stack(enum view view, const char *what, const struct folded_stack *line,
		       struct str *wrong)
{
	str_addf(wrong, "%s stack that %s, %llu samples: %s",
		 view == VIEW_ASYNC ? "async" : "thread", what, line->count, line->comm);
	for (size_t i = 0; i < line->frames.n; i++) {
		if (line->frames.n > 60 && i == 30) {
			str_addf(wrong, ";... %zu more ...", line->frames.n - 60);
			i = line->frames.n - 30;
		}
		str_addf(wrong, ";%s", line->frames.items[i]);
	}
	str_add_char(wrong, '\n');
}

static bool line_has(const struct folded_stack *line, const char *names)
{
	for (size_t i = 0; i < line->n_user; i++)
		if (path_is_one_of(names, line->frames.items[i]))
			return true;
	return false;
}

/* An emulated machine's clock comes in fits and starts: so far off besides. */
#define SHARE_MORE .10

/* 4 standard errors: fails by chance once in some 16,000 times. Returns what it is a
 * share of, in samples. */
static unsigned long long check_share(const struct share *share, enum view view,
				      double more, const struct folded *folded,
				      struct str *wrong)
{
	unsigned long long n = 0, k = 0;
	double p = share->share, off;

	for (size_t i = 0; i < folded->stacks.n; i++) {
		const struct folded_stack *line = &folded->stacks.items[i];

		if (share->among && !line_has(line, share->among))
			continue;
		n += line->count;
		if (line_has(line, share->frame))
			k += line->count;
	}
	off = fabs(k - n * p) - n * more;
	if (off < 0)
		off = 0;
	if (!n || off * off > 16 * n * p * (1 - p) * (share->clump ? share->clump : 1))
		str_addf(wrong, "%s view: share of %s is %llu of %llu = %.4f, not %.4f\n",
			 view == VIEW_ASYNC ? "async" : "thread", share->frame, k, n,
			 n ? (double)k / n : 0, p);
	return n;
}

static double most_of(const struct judge *judge, enum stack_class is)
{
	double most = class_info[is].most;

	if (judge->by_table && is_fp_class(is) && !judge->of->untabled)
		return 0;
	for (int i = 0; i < BOUNDS_MAX; i++)
		if (judge->of->bounds[i].is == is && is != CLASS_EXACT)
			most = judge->of->bounds[i].most;
	return most > 0 ? most + judge->more : 0;
}

bool judge_is_over(const struct judge *judge, const struct finding *finding,
		   enum stack_class is)
{
	double most = most_of(judge, is) * finding->total;

	if (is == CLASS_UNSPLICED && most > 0)
		most += judge->late;
	if (is == CLASS_CUT || is == CLASS_GAP)
		most += judge->awaited;
	return finding->classes[is] > most && (most == 0 || finding->classes[is] > 2);
}

static void check_bounds(const struct judge *judge, enum view view,
			 const struct finding *finding, struct str *wrong)
{
	for (int is = 0; is < N_CLASSES; is++)
		if (judge_is_over(judge, finding, is))
			str_addf(wrong,
				 "%s view: %llu of %llu samples are %s, more than %.1f "
				 "%%\n",
				 view == VIEW_ASYNC ? "async" : "thread",
				 finding->classes[is], finding->total,
				 class_info[is].word, 100 * most_of(judge, is));
}

/* Those of a chain show in the async view only. */
static bool is_visible(const struct judge *judge, enum view view, const char *frame)
{
	for (size_t i = 0; i < judge->rules[view].n; i++)
		if (path_names(&judge->rules[view].items[i].path, frame))
			return true;
	return false;
}

/* What was not sampled was not shown to be true. */
static void check_seen(const char *names, enum view view, const struct folded *folded,
		       struct str *wrong)
{
	for (size_t n; *names; names += n + (names[n] == '|')) {
		char name[64];
		size_t i = 0;

		n = strcspn(names, "|");
		snprintf(name, sizeof(name), "%.*s", (int)n, names);
		while (i < folded->stacks.n && !line_has(&folded->stacks.items[i], name))
			i++;
		if (i == folded->stacks.n)
			str_addf(wrong, "%s view: no sample has %s\n",
				 view == VIEW_ASYNC ? "async" : "thread", name);
	}
}

void judge_view(const struct judge *judge, enum view view, const struct folded *folded,
		struct finding *ret, struct str *wrong)
{
	int shown = 0;

	*ret = (struct finding){ .total = folded->total };
	for (size_t i = 0; i < folded->stacks.n; i++) {
		const struct folded_stack *line = &folded->stacks.items[i];
		enum stack_class is = classify(judge, view, line);

		if (judge->by_table && is_fp_class(is) && line->frames.n &&
		    !strcmp(line->frames.items[0], CUT_FRAME))
			is = CLASS_CUT;
		if (is != CLASS_FALSE)
			ret->classes[is] += line->count;
		else
			ret->n_false += line->count;
		if (is == CLASS_FALSE && shown++ < SHOWN_MAX)
			tell_stack(view, "never existed", line, wrong);
		else if (is_fp_class(is) && !most_of(judge, is) && shown++ < SHOWN_MAX)
			tell_stack(view, "lacks a caller", line, wrong);
	}
	if (shown > SHOWN_MAX)
		str_addf(wrong, "and %d more such stacks\n", shown - SHOWN_MAX);
	check_bounds(judge, view, ret, wrong);
	if (judge->of->seen)
		check_seen(judge->of->seen, view, folded, wrong);
	for (int i = 0; i < SHARES_MAX && judge->of->shares[i].frame; i++)
		if (is_visible(judge, view, judge->of->shares[i].frame) &&
		    !check_share(&judge->of->shares[i], view,
				 judge->more > 0 ? SHARE_MORE : 0, folded, wrong))
			ret->lacks_part = true;
}
