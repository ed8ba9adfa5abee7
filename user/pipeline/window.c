// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/window.h"

#include "base/error.h"
#include "base/vec.h"
#include "core/sample.h"
#include "pipeline/translate.h"

#include <errno.h>

struct window {
	struct module_table *modules;
	struct aggregator *aggregator;
	struct translator *translator;
	size_t n_held;	     /* frames whose modules are held */
	VEC(bool) is_held;   /* by module */
	VEC(uint32_t) holds; /* modules */
};

int window_new(struct window **ret, struct module_table *modules)
{
	AUTO(window) w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return fail(-ENOMEM, "no memory for a window");
	w->modules = modules;
	err = aggregator_new(&w->aggregator);
	if (!err)
		err = translator_new(&w->translator, w->aggregator);
	if (err)
		return err;
	*ret = GIVE(w);
	return 0;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->holds.n; i++)
		module_release(w->modules, w->holds.items[i]);
	vec_free(&w->holds);
	vec_free(&w->is_held);
	translator_free(w->translator);
	aggregator_free(w->aggregator);
	free(w);
}

struct aggregator *window_aggregator(const struct window *w)
{
	return w->aggregator;
}

static void count_flags(struct aggregator *aggregator, const struct sample_rec *rec)
{
	aggregator->samples.total++;
	aggregator->samples.in_kernel += !!(rec->flags & SAMPLE_IN_KERNEL);
	aggregator->samples.unproven += !!(rec->flags & SAMPLE_UNPROVEN);
	aggregator->samples.async += !!(rec->flags & SAMPLE_ASYNC);
	aggregator->samples.unmatched += !!(rec->flags & SAMPLE_UNMATCHED);
	aggregator->samples.stale += !!(rec->flags & SAMPLE_STALE);
	aggregator->samples.no_slot += !!(rec->flags & SAMPLE_NO_SLOT);
	aggregator->samples.awaited += !!(rec->flags & SAMPLE_AWAITED);
	aggregator->samples.traced += !!(rec->flags & SAMPLE_TRACED);
	aggregator->samples.no_context += !!(rec->flags & SAMPLE_NO_CONTEXT);
	if (rec->flags & SAMPLE_ATTRIBUTED) {
		uint64_t word = rec->words[rec->n_words - 1];

		aggregator->samples.attributed++;
		aggregator->samples.attributes_cut +=
			ATTRIBUTES_SAID(word) > ATTRIBUTES_BYTES(word);
	}
	aggregator->samples.roots_cut += !!(rec->flags & SAMPLE_ROOTS_CUT);
	aggregator->by_hook[rec->hook].samples++;
	aggregator->by_hook[rec->hook].endings[rec->ending]++;
}

static void count_segments(struct aggregator *aggregator, const struct sample_rec *rec)
{
	unsigned int at = rec->n_kernel + rec->n_thread, n = sample_stack_words(rec);

	while (at < n) {
		uint64_t word = rec->words[at];

		if (SEGMENT_KIND(word) == SEGMENT_CHAIN)
			aggregator->chain_endings[SEGMENT_ENDING(word)]++;
		else
			aggregator->waiting_endings[SEGMENT_ENDING(word)]++;
		at += 1 + SEGMENT_COUNT(word);
	}
}

static int hold(struct window *w, uint32_t module)
{
	int err = 0;

	while (!err && w->is_held.n <= module)
		err = vec_push(&w->is_held, false);
	if (err || w->is_held.items[module])
		return err;
	err = vec_push(&w->holds, module);
	if (err)
		return err;
	module_hold(w->modules, module);
	w->is_held.items[module] = true;
	return 0;
}

static int hold_new(struct window *w)
{
	size_t n = intern_count(w->aggregator->frames);
	int err = 0;

	for (; !err && w->n_held < n; w->n_held++)
		err = hold(w,
			   aggregator_frame(w->aggregator, (uint32_t)w->n_held)->module);
	return err;
}

int window_add(struct window *w, const struct sample_rec *rec,
	       const struct process *process)
{
	int err;

	count_flags(w->aggregator, rec);
	count_segments(w->aggregator, rec);
	err = translate_sample(w->translator, rec, process);
	return err ? err : hold_new(w);
}
