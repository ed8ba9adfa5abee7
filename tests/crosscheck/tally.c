// SPDX-License-Identifier: BSD-2-Clause
#include "tally.h"

#include "show.h"

#include "base/error.h"
#include "core/sample.h"
#include "shared/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct tallying {
	struct tally *tally;
	struct capture *capture;
	const struct event *waiting[CPUS_MAX]; /* by CPU: for its other half */
	uint64_t period_ns;
	unsigned int examples;
	FILE *out;
	struct modules *modules;
	struct offline *offline;
	struct our_stack ours;
	struct offline_stack theirs;
	struct side_event side;
};

static void tallying_free(struct tallying *t)
{
	offline_free(t->offline);
	modules_free(t->modules);
	free(t);
}

static void tallying_freep(struct tallying **t)
{
	if (*t)
		tallying_free(*t);
}

/*
 * The two halves of one tick follow each other on its CPU. Which of them took
 * its time first depends on the kernel; the other is kept here until then.
 */
static const struct event *partner(struct tallying *t, const struct event *event)
{
	const struct event *other = t->waiting[event->cpu];

	t->waiting[event->cpu] = event;
	if (!other)
		return NULL;
	if (other->kind != event->kind &&
	    event->time_ns - other->time_ns < t->period_ns / 2) {
		t->waiting[event->cpu] = NULL;
		return other;
	}
	t->tally->alone += other->kind == EVENT_KERNEL;
	return NULL;
}

static void count_reason(struct tallying *t, const struct kernel_sample *sample)
{
	struct reason *reason = t->tally->reasons;
	char where[SHOW_BYTES], words[sizeof(reason->words)];

	if (t->theirs.end != OFFLINE_GAVE_UP)
		return;
	show_place(where, t->modules, sample->pid,
		   t->theirs.n ? t->theirs.at[t->theirs.n - 1] : 0);
	snprintf(words, sizeof(words), "%s, behind %s", t->theirs.why, where);
	for (int i = 0; i < REASONS_MAX - 1 && reason->n; i++, reason++)
		if (!strcmp(reason->words, words))
			break;
	snprintf(reason->words, sizeof(reason->words), "%s",
		 reason == &t->tally->reasons[REASONS_MAX - 1] ? "other reasons" : words);
	reason->n++;
}

static void judge(struct tallying *t, const struct sample_rec *rec,
		  const struct kernel_sample *sample)
{
	struct tally *tally = t->tally;
	enum match match;

	our_stack_read(&t->ours, rec);
	/* registers without a stack are of what an exec has just ended */
	if (!t->ours.n && (!sample->has_user || !sample->stack_bytes)) {
		tally->no_user++;
		return;
	}
	t->theirs.n = 0;
	if (sample->has_user)
		offline_walk(t->offline, sample, &t->theirs);
	match = compare(rec, &t->ours, &t->theirs);
	tally->samples++;
	tally->frames += compare_common(&t->ours, &t->theirs);
	tally->theirs += t->theirs.n;
	tally->reached += t->theirs.end == OFFLINE_START;
	count_reason(t, sample);
	tally->no_module += t->theirs.no_module;
	tally->in_kernel += !!(rec->flags & SAMPLE_IN_KERNEL);
	tally->unproven += t->ours.unproven > 0;
	if (tally->matches[match]++ < t->examples && match != MATCH_SAME)
		show_sample(t->out, match, rec, sample, &t->ours, &t->theirs, t->modules);
}

static int pair(struct tallying *t, const struct event *event)
{
	const struct event *other = partner(t, event);
	const struct event *ours = event->kind == EVENT_OURS ? event : other;
	const struct sample_rec *rec;
	const struct kernel_sample *sample;
	int err;

	if (!other)
		return 0;
	rec = capture_bytes(t->capture, ours);
	sample = capture_bytes(t->capture, ours == event ? other : event);
	err = sample_check(rec, ours->bytes);
	if (err)
		return err;
	if (rec->tid == sample->tid && rec->tgid == sample->pid)
		judge(t, rec, sample);
	else
		t->tally->alone++;
	return 0;
}

static int take(struct tallying *t, const struct event *event)
{
	int err;

	if (event->kind != EVENT_SIDE) {
		t->tally->ours += event->kind == EVENT_OURS;
		return pair(t, event);
	}
	err = side_event_read(&t->side, capture_bytes(t->capture, event), event->bytes);
	return err ? err : modules_event(t->modules, &t->side);
}

int tally_capture(struct tally *ret, struct capture *capture, unsigned int hz,
		  unsigned int examples, FILE *out)
{
	AUTO(tallying) t = calloc(1, sizeof(*t));
	int err = t ? capture_sort(capture) : fail(-ENOMEM, "no memory for a tally");

	*ret = (struct tally){ 0 };
	if (err)
		return err;
	t->tally = ret;
	t->capture = capture;
	t->period_ns = 1000000000ULL / hz;
	t->examples = examples;
	t->out = out;
	err = modules_new(&t->modules);
	if (!err)
		err = offline_new(&t->offline, t->modules);
	for (size_t i = 0; !err && i < capture_count(capture); i++)
		err = take(t, capture_event(capture, i));
	ret->lost = capture_lost(capture);
	ret->refused = t->modules ? modules_refused(t->modules) : 0;
	return err;
}

uint64_t tally_agreeing(const struct tally *tally)
{
	uint64_t n = 0;

	for (int match = 0; match < N_MATCHES; match++)
		n += match_agrees(match) ? tally->matches[match] : 0;
	return n;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void tally_print(const struct tally *t, const char *name, FILE *out)
{
	fprintf(out,
		"%s: %.2f %% of %" PRIu64 " samples agree; %.2f %% of %" PRIu64
		" addresses\n",
		name, percent(tally_agreeing(t), t->samples), t->samples,
		percent(t->frames, t->theirs), t->theirs);
	for (int match = 0; match < N_MATCHES; match++) {
		if (t->matches[match])
			fprintf(out, "  %8" PRIu64 "  %6.2f %%  %s %s\n",
				t->matches[match], percent(t->matches[match], t->samples),
				match_agrees(match) ? "+" : "-", match_words(match));
	}
	for (int i = 0; i < REASONS_MAX && t->reasons[i].n; i++)
		fprintf(out, "  %8" PRIu64 "  libdwfl: %s\n", t->reasons[i].n,
			t->reasons[i].words);
	fprintf(out, "  in the kernel %.1f %%, ours with an unproven frame %.1f %%\n",
		percent(t->in_kernel, t->samples), percent(t->unproven, t->samples));
	fprintf(out,
		"  libdwfl at the start %.2f %%, %" PRIu64
		" of its addresses in no file, "
		"%" PRIu64 " files refused\n",
		percent(t->reached, t->samples), t->no_module, t->refused);
	fprintf(out,
		"  %" PRIu64 " without a user stack, %" PRIu64
		" without a partner, %" PRIu64 " lost by the kernel\n",
		t->no_user, t->alone, t->lost);
}
