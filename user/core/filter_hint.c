// SPDX-License-Identifier: BSD-2-Clause
#include "core/filter_hint.h"

#include "base/error.h"
#include "base/intern.h"
#include "base/nearest.h"

#include <errno.h>
#include <string.h>

const char *const filter_key_names[FILTER_KEYS] = {
	[FILTER_BY_COMM] = "comm",	   [FILTER_BY_PID] = "pid",
	[FILTER_BY_TID] = "tid",	   [FILTER_BY_CONTAINER] = "container",
	[FILTER_BY_HOST] = "host",	   [FILTER_BY_MODULE] = "module",
	[FILTER_BY_FUNCTION] = "function", [FILTER_BY_TIME] = "time",
};

const char *filter_key_name(const void *none, size_t i)
{
	return i < FILTER_KEYS ? filter_key_names[i] : NULL;
}

#define HINTS_MAX  (1u << 20)
#define TOLD_MAX   4
#define WORD_BYTES 128

/* What there is of a key, and how many samples. */
struct known {
	struct intern *texts;
	VEC(uint64_t) counts;
};

void filter_text(struct str *out, const struct profile *r, enum filter_key key,
		 uint32_t thread)
{
	const struct profile_thread *t = &r->threads.items[thread];
	const struct profile_process *p = &r->processes.items[t->process];
	char text[256];

	switch (key) {
	case FILTER_BY_COMM:
		str_add(out, profile_string(r, t->name));
		break;
	case FILTER_BY_PID:
		str_addf(out, "%u", p->pid);
		break;
	case FILTER_BY_TID:
		str_addf(out, "%u", t->tid);
		break;
	case FILTER_BY_CONTAINER:
		str_add(out, profile_container(text, sizeof(text),
					       profile_string(r, p->cgroup)));
		break;
	case FILTER_BY_HOST:
		str_add(out, profile_string(r, p->host));
		break;
	default:
		break;
	}
}

static int note_text(struct known *known, const struct str *text, uint64_t count)
{
	uint32_t id;
	int err;

	if (!text->n || !strcmp(text->s, "0")) /* not known */
		return 0;
	err = intern_id(known->texts, text->s, text->n, &id);
	if (err) /* one too many */
		return err < 0 ? err : 0;
	if (id == known->counts.n)
		err = vec_push(&known->counts, 0);
	if (!err)
		known->counts.items[id] += count;
	return err;
}

static int note_all(struct known *known, const struct profile *r, enum filter_key key)
{
	const struct timeline *timeline = &r->timeline;
	AUTO_FREE uint64_t *sums = calloc(r->threads.n + 1, sizeof(*sums));
	int err = sums ? intern_new(&known->texts, HINTS_MAX) : -ENOMEM;

	for (size_t i = 0; !err && i < timeline->sample_keys.n; i++)
		sums[timeline->sample_keys.items[i].b] += timeline->counts.items[i];
	for (uint32_t i = 0; !err && i < r->threads.n; i++) {
		AUTO_STR text = { 0 };

		filter_text(&text, r, key, i);
		if (sums[i])
			err = note_text(known, &text, sums[i]);
	}
	return err;
}

/* Takes it away, so that the next is the next. */
static const char *take_largest(struct known *known)
{
	size_t best = 0;

	for (size_t i = 1; i < known->counts.n; i++)
		if (known->counts.items[i] > known->counts.items[best])
			best = i;
	if (!known->counts.n || !known->counts.items[best])
		return NULL;
	known->counts.items[best] = 0;
	return intern_string(known->texts, (uint32_t)best);
}

static void tell_known(struct str *hint, struct known *known, const char *key)
{
	const char *text = take_largest(known);
	size_t n = 0;

	if (!text) {
		str_addf(hint, "; no %s is known at all", key);
		return;
	}
	for (; text && n < TOLD_MAX; n++, text = take_largest(known))
		str_addf(hint, "%s%s", n ? ", " : "; there are: ", text);
	if (text)
		str_addf(hint, " and %zu more", known->counts.n - n);
}

struct hint_names {
	const struct profile *r;
	enum filter_key key;
	const struct known *known;
};

static const char *name_at(const void *arg, size_t i)
{
	const struct hint_names *names = arg;
	const struct profile *r = names->r;

	switch (names->key) {
	case FILTER_BY_FUNCTION:
		return i < r->frames.n ? profile_string(r, r->frames.items[i].name)
				       : NULL;
	case FILTER_BY_MODULE:
		return i < r->modules.n ? profile_module_name(r, (uint32_t)i) : NULL;
	default:
		return i < names->known->counts.n
			       ? intern_string(names->known->texts, (uint32_t)i)
			       : NULL;
	}
}

const char *profile_nearest_function(const struct profile *r, const char *name)
{
	const struct hint_names names = { .r = r, .key = FILTER_BY_FUNCTION };

	return nearest_word(name, name_at, &names);
}

static void drop_stars(char *word)
{
	char *into = word;

	for (; *word; word++)
		if (*word != '*')
			*into++ = *word;
	*into = '\0';
}

void filter_tell_none(struct str *hint, const struct profile *r,
		      const struct condition *condition)
{
	enum filter_key key = condition->key;
	bool of_threads = key < FILTER_BY_MODULE;
	struct known known = { 0 };
	const struct hint_names names = { r, key, &known };
	char word[WORD_BYTES];
	const char *near = NULL;

	if (of_threads && note_all(&known, r, key))
		error_clear();
	str_clean(word, sizeof(word), condition->pattern, strlen(condition->pattern));
	str_addf(hint, "no %s is '%s'", filter_key_names[key], word);
	drop_stars(word);
	if (key != FILTER_BY_PID && key != FILTER_BY_TID)
		near = nearest_word(word, name_at, &names);
	if (near)
		str_addf(hint, "; did you mean '%s'?", near);
	else if (of_threads)
		tell_known(hint, &known, filter_key_names[key]);
	intern_free(known.texts);
	vec_free(&known.counts);
}
