// SPDX-License-Identifier: BSD-2-Clause
#include "agent/naming.h"

#include "base/error.h"
#include "record/attributes.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

#define OTHERS_MS  2000 /* for all names a window, but root's */
#define CLOSED_MAX 4	/* that wait for names; a window then stays open */

struct naming {
	const struct recording *recording;
	naming_sink *sink;
	void *arg;
	struct worker *worker;
	struct name_cache *cache;
	struct code_verdicts *verdicts;
	struct recorded_window *closed[CLOSED_MAX]; /* in turn */
	size_t n_closed;
	bool is_frugal, is_hurried;
	/* of the first of these */
	struct window_profile profile;
	struct names *names;
	struct symbolizer *symbolizer;
	bool is_unnamed; /* but for what was known */
};

int naming_new(struct naming **ret, naming_sink *sink, void *arg)
{
	AUTO(naming) naming = calloc(1, sizeof(*naming));
	int err;

	if (!naming)
		return fail(-ENOMEM, "no memory for names");
	naming->sink = sink;
	naming->arg = arg;
	err = worker_new(&naming->worker);
	if (!err)
		err = name_cache_new(&naming->cache);
	if (!err)
		err = code_verdicts_new(&naming->verdicts);
	if (err)
		return err;
	*ret = GIVE(naming);
	return 0;
}

static int begin_first(struct naming *naming)
{
	const struct recorded_window *w = naming->closed[0];
	struct symbol_sources sources;
	int err =
		window_profile_begin(&naming->profile, naming->recording, w, w->begun_ns);

	if (!err)
		err = names_new(&naming->names);
	if (err)
		return err;
	naming->profile.verdicts = naming->verdicts;
	sources = window_profile_sources(&naming->profile);
	sources.worker = naming->worker;
	sources.cache = naming->cache;
	if (!naming->is_hurried)
		sources.others_ms = OTHERS_MS;
	sources.only_known = naming->is_unnamed = naming->is_frugal;
	return symbolizer_new(&naming->symbolizer, naming->names,
			      window_aggregator(w->window), &sources);
}

static void end_first(struct naming *naming)
{
	symbolizer_free(naming->symbolizer);
	names_free(naming->names);
	naming->symbolizer = NULL;
	naming->names = NULL;
	window_profile_end(&naming->profile);
	recorded_window_free(naming->closed[0]);
	memmove(naming->closed, naming->closed + 1,
		--naming->n_closed * sizeof(*naming->closed));
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	while (naming->n_closed)
		end_first(naming);
	name_cache_free(naming->cache);
	code_verdicts_free(naming->verdicts);
	worker_free(naming->worker);
	free(naming);
}

void naming_add(struct naming *naming, const struct recording *recording,
		struct recorded_window *window)
{
	naming->recording = recording;
	naming->closed[naming->n_closed++] = window;
}

bool naming_has_room(const struct naming *naming)
{
	return naming->n_closed < CLOSED_MAX - 1;
}

bool naming_is_idle(const struct naming *naming)
{
	return !naming->n_closed;
}

uint64_t naming_let_go(struct naming *naming)
{
	uint64_t bytes = name_cache_counts(naming->cache).bytes;

	name_cache_clear(naming->cache);
	bytes += code_verdicts_clear(naming->verdicts);
	if (worker_let_go(naming->worker))
		error_clear(); /* told once something is asked */
	malloc_trim(0);
	return bytes;
}

void naming_hurry(struct naming *naming)
{
	naming->is_hurried = true;
}

void naming_set_frugal(struct naming *naming, bool is_frugal)
{
	naming->is_frugal = is_frugal;
}

static int hand_on(struct naming *naming)
{
	const struct recorded_window *w = naming->closed[0];
	struct profile *profile = profile_builder_profile(naming->profile.builder);
	struct stats stats = { .totals = w->totals,
			       .duration_ns = w->ended_ns - w->begun_ns };
	struct declared *declared = naming->recording->declared;
	int err = window_profile_check(&naming->profile, naming->names, &stats);

	if (!err)
		err = window_profile_finish(&naming->profile, naming->names, &stats);
	if (!err && declared)
		declared_parse(declared, window_aggregator(w->window), naming->worker);
	if (!err && declared && declared_attribute_names(declared))
		err = attributes_name(profile, window_aggregator(w->window), declared);
	if (!err && naming->is_unnamed)
		err = profile_add_count(profile, "agent.unnamed_windows", 1);
	return err ? err : naming->sink(naming->arg, w, profile, &stats);
}

int naming_step(struct naming *naming)
{
	int err = 0;

	if (!naming->n_closed)
		return 0;
	if (!naming->names)
		err = begin_first(naming);
	if (!err)
		err = symbolizer_step(naming->symbolizer);
	if (err)
		return err < 0 ? err : 0;
	err = hand_on(naming);
	end_first(naming);
	name_cache_turn(naming->cache);
	return err;
}
