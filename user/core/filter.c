// SPDX-License-Identifier: BSD-2-Clause
#include "core/filter.h"

#include "base/error.h"
#include "base/glob.h"
#include "core/filter_hint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sieve {
	struct profile *r;
	const struct filter *filter;
	enum view view;
	bool *sample_keys; /* by sample key: is it kept? */
	bool *met;	   /* by thread or by node, for one key */
};

static int bad_filter(const char *text, const char *why)
{
	char shown[64];

	str_clean(shown, sizeof(shown), text, strlen(text));
	fail(-EINVAL, "--filter '%s': %s", shown, why);
	return fail_hint(-EINVAL, "write comm=NAME, pid=N, tid=N, container=ID, "
				  "host=NAME, module=NAME, function=NAME or "
				  "time=FROM..TO; * matches anything");
}

/* "10", "10s", "" = the outermost; false: no seconds. */
static bool read_seconds(const char *s, const char *end, uint32_t otherwise,
			 uint32_t *ret)
{
	unsigned long value;
	char *after;

	*ret = otherwise;
	if (s == end)
		return true;
	if (*s < '0' || *s > '9')
		return false;
	value = strtoul(s, &after, 10);
	if (after < end && *after == 's')
		after++;
	*ret = (uint32_t)value;
	return after == end && value < UINT32_MAX;
}

static int read_time(const char *text, const char *value, struct condition *condition)
{
	const char *dots = strstr(value, "..");

	if (!dots || !read_seconds(value, dots, 0, &condition->from_s) ||
	    !read_seconds(dots + 2, value + strlen(value), UINT32_MAX, &condition->to_s))
		return bad_filter(text, "not a range of seconds, as in 10..20");
	if (condition->from_s >= condition->to_s)
		return bad_filter(text, "it ends before it begins");
	return 0;
}

int filter_add(struct filter *filter, const char *text)
{
	const char *equals = strchr(text, '=');
	struct condition *condition = &filter->conditions[filter->n];
	int key;

	if (!equals || !equals[1])
		return bad_filter(text, "no KEY=VALUE");
	for (key = 0; key < FILTER_KEYS; key++)
		if (strlen(filter_key_names[key]) == (size_t)(equals - text) &&
		    !memcmp(filter_key_names[key], text, (size_t)(equals - text)))
			break;
	if (key == FILTER_KEYS)
		return bad_filter(text, "no such key");
	if (filter->n == CONDITIONS_MAX)
		return bad_filter(text, "too many filters");
	*condition =
		(struct condition){ .key = (enum filter_key)key, .pattern = equals + 1 };
	filter->n++;
	return key == FILTER_BY_TIME ? read_time(text, equals + 1, condition) : 0;
}

static bool thread_meets(const struct profile *r, const struct condition *condition,
			 uint32_t thread)
{
	const struct profile_process *p =
		&r->processes.items[r->threads.items[thread].process];
	AUTO_STR text = { 0 };

	filter_text(&text, r, condition->key, thread);
	return glob_matches(condition->pattern, text.s ? text.s : "") ||
	       (condition->key == FILTER_BY_CONTAINER &&
		glob_matches(condition->pattern, profile_string(r, p->cgroup)));
}

static bool frame_meets(const struct profile *r, const struct condition *condition,
			uint32_t code)
{
	const struct profile_frame *frame = &r->frames.items[code];
	const char *path = profile_string(r, r->modules.items[frame->module].path);

	if (condition->key == FILTER_BY_FUNCTION)
		return glob_matches(condition->pattern, profile_string(r, frame->name));
	return glob_matches(condition->pattern, path) ||
	       glob_matches(condition->pattern, profile_module_name(r, frame->module));
}

static bool is_of_threads(enum filter_key key)
{
	return key <= FILTER_BY_HOST;
}

/* Does anything of the profile meet it? Notes what, in met[]. */
static bool note_threads(struct sieve *s, const struct condition *condition)
{
	bool any = false;

	for (uint32_t i = 0; i < s->r->threads.n; i++)
		if (thread_meets(s->r, condition, i))
			s->met[i] = any = true;
	return any;
}

/* A stack has a frame if its leaf's node or one above it is that. */
static bool note_nodes(struct sieve *s, const struct condition *condition, bool *frames)
{
	const struct profile *r = s->r;
	bool any = false;

	for (uint32_t i = 0; i < r->frames.n; i++)
		frames[i] = frame_meets(r, condition, i);
	for (uint32_t i = 1; i < r->nodes.n; i++) {
		uint32_t code = profile_code(r, i);

		if (s->met[profile_parent(r, i)] ||
		    (PROFILE_IS_FRAME(code) && frames[code]))
			s->met[i] = any = true;
	}
	return any;
}

/* All conditions on one key: what meets none of them is not kept. */
static void sift(struct sieve *s, enum filter_key key, bool *frames, struct str *hint)
{
	const struct timeline *timeline = &s->r->timeline;
	bool given = false;

	memset(s->met, 0, s->r->nodes.n + s->r->threads.n);
	for (unsigned int i = 0; i < s->filter->n; i++) {
		const struct condition *condition = &s->filter->conditions[i];

		if (condition->key != key)
			continue;
		given = true;
		if (!(is_of_threads(key) ? note_threads(s, condition)
					 : note_nodes(s, condition, frames)) &&
		    !hint->n)
			filter_tell_none(hint, s->r, condition);
	}
	for (size_t i = 0; given && i < timeline->sample_keys.n; i++) {
		struct pair sample_key = timeline->sample_keys.items[i];

		s->sample_keys[i] &=
			s->met[is_of_threads(key)
				       ? sample_key.b
				       : s->r->stacks.items[sample_key.a].node[s->view]];
	}
}

/* All ranges of time as one: from the earliest to the latest. */
static void find_range(const struct sieve *s, uint32_t *ret_from, uint64_t *ret_to)
{
	uint64_t from = UINT64_MAX, to = 0, first = s->r->timeline.first;

	for (unsigned int i = 0; i < s->filter->n; i++) {
		const struct condition *c = &s->filter->conditions[i];

		if (c->key != FILTER_BY_TIME)
			continue;
		from = c->from_s + first < from ? c->from_s + first : from;
		to = c->to_s + first > to ? c->to_s + first : to;
	}
	*ret_from = from == UINT64_MAX ? 0 : (uint32_t)from;
	*ret_to = from == UINT64_MAX ? UINT64_MAX : to;
}

int profile_filter(struct profile *r, const struct filter *filter, enum view view,
		   struct str *hint)
{
	AUTO_FREE bool *sample_keys = malloc(r->timeline.sample_keys.n + 1);
	AUTO_FREE bool *met = malloc(r->nodes.n + r->threads.n);
	AUTO_FREE bool *frames = malloc(r->frames.n + 1);
	struct sieve s = { .r = r,
			   .filter = filter,
			   .view = view,
			   .sample_keys = sample_keys,
			   .met = met };
	uint32_t from;
	uint64_t to;

	if (!filter->n)
		return 0;
	if (!sample_keys || !met || !frames)
		return fail(-ENOMEM, "no memory for a filter");
	memset(sample_keys, true, r->timeline.sample_keys.n);
	for (int key = 0; key < FILTER_BY_TIME; key++)
		sift(&s, (enum filter_key)key, frames, hint);
	find_range(&s, &from, &to);
	if (!hint->n && r->timeline.is_dated && from > r->timeline.last)
		str_addf(hint, "the recording has %u seconds",
			 r->timeline.last - r->timeline.first + 1);
	return timeline_keep(&r->timeline, sample_keys, from, to);
}

void profile_drop_kernel(struct profile *r)
{
	for (size_t i = 0; i < r->stacks.n; i++)
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++) {
			uint32_t *node = &r->stacks.items[i].node[view];
			const struct profile_frame *frame;

			while ((frame = profile_node_frame(r, *node)) &&
			       frame->type == FRAME_TYPE_KERNEL)
				*node = profile_parent(r, *node);
		}
}

/* Parents have smaller numbers, so a node's is known before it is asked for. */
int profile_drop_inlined(struct profile *r)
{
	AUTO_FREE uint32_t *kept = calloc(r->nodes.n, sizeof(*kept));
	size_t n = r->nodes.n;
	int err = 0;

	if (!kept)
		return fail(-ENOMEM, "no memory for %zu nodes", n);
	for (uint32_t i = 1; !err && i < n; i++) {
		const struct profile_frame *frame = profile_node_frame(r, i);
		uint32_t parent = kept[profile_parent(r, i)];

		kept[i] = parent;
		if (!frame || frame->type != FRAME_TYPE_INLINED)
			err = profile_add_node(r, parent, profile_code(r, i), &kept[i]);
	}
	for (size_t i = 0; !err && i < r->stacks.n; i++)
		for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++)
			r->stacks.items[i].node[view] =
				kept[r->stacks.items[i].node[view]];
	return err;
}
