// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/window.h"

#include "base/error.h"
#include "base/vec.h"
#include "pipeline/translate.h"

#include <errno.h>

struct window {
	struct module_table *modules;
	struct profile *profile;
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
	err = profile_new(&w->profile);
	if (!err)
		err = translator_new(&w->translator, w->profile);
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
	profile_free(w->profile);
	free(w);
}

struct profile *window_profile(const struct window *w)
{
	return w->profile;
}

static void count_flags(struct profile *profile, const struct sample_rec *rec)
{
	profile->samples.total++;
	profile->samples.in_kernel += !!(rec->flags & SAMPLE_IN_KERNEL);
	profile->samples.unproven += !!(rec->flags & SAMPLE_UNPROVEN);
	profile->samples.async += !!(rec->flags & SAMPLE_ASYNC);
	profile->samples.unmatched += !!(rec->flags & SAMPLE_UNMATCHED);
	profile->samples.stale += !!(rec->flags & SAMPLE_STALE);
	profile->samples.no_slot += !!(rec->flags & SAMPLE_NO_SLOT);
	profile->samples.awaited += !!(rec->flags & SAMPLE_AWAITED);
	profile->samples.roots_cut += !!(rec->flags & SAMPLE_ROOTS_CUT);
	profile->endings[rec->ending]++;
}

static void count_segments(struct profile *profile, const struct sample_rec *rec)
{
	unsigned int at = rec->n_kernel + rec->n_thread;

	while (at < rec->n_words) {
		uint64_t word = rec->words[at];

		if (SEGMENT_KIND(word) == SEGMENT_CHAIN)
			profile->chain_endings[SEGMENT_ENDING(word)]++;
		else
			profile->waiting_endings[SEGMENT_ENDING(word)]++;
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
	size_t n = intern_count(w->profile->frames);
	int err = 0;

	for (; !err && w->n_held < n; w->n_held++)
		err = hold(w, profile_frame(w->profile, (uint32_t)w->n_held)->module);
	return err;
}

int window_add(struct window *w, const struct sample_rec *rec,
	       const struct process *process)
{
	int err;

	count_flags(w->profile, rec);
	count_segments(w->profile, rec);
	err = translate_sample(w->translator, rec, process);
	return err ? err : hold_new(w);
}
