/* SPDX-License-Identifier: BSD-2-Clause */
#include "path.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool path_is_one_of(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (;;) {
		size_t len = strcspn(names, "|");

		if (len == n && !memcmp(names, name, n))
			return true;
		if (!names[len])
			return false;
		names += len + 1;
	}
}

static int add_item(struct path *path, const char *names, size_t n, unsigned int min,
		    unsigned int max)
{
	char *copy = strndup(names, n);
	int err;

	if (!copy)
		return fail(-ENOMEM, "no memory for a path");
	err = vec_push(path, (struct path_item){ copy, min, max, 0 });
	if (err)
		free(copy);
	return err;
}

/* hop_{000..399}: one item a number, as wide as the first is written */
static int add_range(struct path *path, const char *text, size_t n)
{
	const char *brace = memchr(text, '{', n);
	char *at, *end;
	long first = strtol(brace + 1, &at, 10), last;
	int width = (int)(at - brace - 1), err = 0;

	if (at[0] != '.' || at[1] != '.')
		return fail(-EINVAL, "no range: %.*s", (int)n, text);
	last = strtol(at + 2, &end, 10);
	if (end != text + n - 1 || *end != '}' || last < first)
		return fail(-EINVAL, "no range: %.*s", (int)n, text);
	for (long i = first; i <= last && !err; i++) {
		char name[128];
		int len = snprintf(name, sizeof(name), "%.*s%0*ld", (int)(brace - text),
				   text, width, i);

		err = add_item(path, name, len, 1, 1);
	}
	return err;
}

/* *3 or *1-3 */
static int read_count(const char *star, unsigned int *ret_min, unsigned int *ret_max)
{
	int fields = sscanf(star, "*%u-%u", ret_min, ret_max);

	if (fields < 1)
		return fail(-EINVAL, "no count: %s", star);
	if (fields == 1)
		*ret_max = *ret_min;
	return 0;
}

static int add_text(struct path *path, const char *text, size_t n)
{
	const char *star = memchr(text, '*', n);
	unsigned int min = 1, max = 1;

	if (memchr(text, '{', n))
		return add_range(path, text, n);
	if (star) {
		int err = read_count(star, &min, &max);

		if (err)
			return err;
		n = star - text;
	}
	return add_item(path, text, n, min, max);
}

/* a;b;c */
static int add_list(struct path *path, const char *text, size_t n)
{
	int err = 0;

	while (n && !err) {
		size_t len = strcspn(text, ";");

		if (len > n)
			len = n;
		err = add_text(path, text, len);
		text += len + (len < n);
		n -= len + (len < n);
	}
	return err;
}

/* (a;b;c)*2-5, which ends at *ret_end: as often as it may be, and from the least
 * number on each time may be the one that does not come */
static int add_group(struct path *path, const char *text, const char **ret_end)
{
	const char *close = strchr(text, ')');
	unsigned int min, max;
	size_t first = path->n;
	int err;

	if (!close)
		return fail(-EINVAL, "no end: %s", text);
	err = read_count(close + 1, &min, &max);
	for (unsigned int i = 0; i < max && !err; i++) {
		size_t at = path->n;

		err = add_list(path, text + 1, close - text - 1);
		if (!err && i >= min)
			path->items[at].skip_to = 1;
	}
	for (size_t i = first; i < path->n; i++)
		if (path->items[i].skip_to)
			path->items[i].skip_to = path->n;
	*ret_end = close + strcspn(close, ";");
	return err;
}

int path_parse(struct path *ret, const char *text)
{
	int err = 0;

	*ret = (struct path){ .rooted = *text == '^' };
	text += ret->rooted;
	while (!err) {
		const char *end = text + strcspn(text, ";");

		err = *text == '(' ? add_group(ret, text, &end)
				   : add_text(ret, text, end - text);
		if (!*end)
			break;
		text = end + 1;
	}
	for (size_t i = 0; i < ret->n; i++)
		if (!strcmp(ret->items[i].names, SEAM))
			ret->after_seam = i + 1;
	if (err)
		path_free(ret);
	return err;
}

void path_free(struct path *path)
{
	for (size_t i = 0; i < path->n; i++)
		free(path->items[i].names);
	vec_free(path);
}

static bool item_matches(const struct path_item *item, const char *frame)
{
	if (!strcmp(frame, ANY_FRAME))
		return strcmp(item->names, SEAM) != 0;
	return path_is_one_of(item->names, frame);
}

/* Where the matching of a stack against a path stands. */
struct at {
	size_t item;
	unsigned int used; /* frames that the item has taken */
};

/* Behind a gap a path goes on where its next frame is, and only there: to try all
 * places of a long one, again at each gap, takes minutes. */
static bool may_go_on(const struct path_item *item, const char *const *frames, size_t n)
{
	return !n || !strcmp(*frames, GAP_FRAME) || item_matches(item, *frames);
}

/* What was tried in vain, a bit for each place in the path and number of frames left: a
 * path with parts that may be left out else tries the same again and again. */
struct search {
	const struct path *path;
	size_t *first; /* of each item's places */
	size_t n_places;
	unsigned char *failed;
};

#define AUTO_SEARCH __attribute__((cleanup(free_search))) struct search

static void free_search(struct search *search)
{
	free(search->first);
	free(search->failed);
}

static bool begin_search(struct search *ret, const struct path *path, size_t n)
{
	ret->path = path;
	ret->first = calloc(path->n, sizeof(*ret->first));
	for (size_t i = 0; ret->first && i < path->n; i++) {
		ret->first[i] = ret->n_places;
		ret->n_places += path->items[i].max + 1;
	}
	ret->failed = calloc((n + 1) * ret->n_places / 8 + 1, 1);
	return ret->first && ret->failed;
}

static bool fits(struct search *search, struct at at, const char *const *frames,
		 size_t n);

static bool try_ways(struct search *search, struct at at, const char *const *frames,
		     size_t n)
{
	const struct path *path = search->path;
	const struct path_item *item = &path->items[at.item];

	if (at.used < item->max && item_matches(item, *frames) &&
	    fits(search, (struct at){ at.item, at.used + 1 }, frames + 1, n - 1))
		return true;
	if (!strcmp(*frames, GAP_FRAME))
		for (size_t i = at.item; i < path->n; i++)
			if (may_go_on(&path->items[i], frames + 1, n - 1) &&
			    fits(search, (struct at){ i, 0 }, frames + 1, n - 1))
				return true;
	if (!at.used && item->skip_to && item->skip_to < path->n &&
	    fits(search, (struct at){ item->skip_to, 0 }, frames, n))
		return true;
	if (at.used < item->min || at.item + 1 >= path->n)
		return false;
	return fits(search, (struct at){ at.item + 1, 0 }, frames, n);
}

static bool fits(struct search *search, struct at at, const char *const *frames, size_t n)
{
	size_t state = n * search->n_places + search->first[at.item] + at.used;

	if (!n)
		return at.item + !!at.used > search->path->after_seam;
	if (search->failed[state / 8] >> state % 8 & 1)
		return false;
	if (try_ways(search, at, frames, n))
		return true;
	search->failed[state / 8] |= (unsigned char)(1 << state % 8);
	return false;
}

bool path_fits(const struct path *path, const char *const *frames, size_t n)
{
	AUTO_SEARCH search = { 0 };

	return n && begin_search(&search, path, n) &&
	       fits(&search, (struct at){ 0, 0 }, frames, n);
}

bool path_fits_cut(const struct path *path, const char *const *frames, size_t n)
{
	AUTO_SEARCH search = { 0 };

	if (!n || !begin_search(&search, path, n))
		return false;
	for (size_t i = 0; i < path->n; i++)
		for (unsigned int used = 0; used < path->items[i].max; used++)
			if (fits(&search, (struct at){ i, used }, frames, n))
				return true;
	return false;
}

bool path_names(const struct path *path, const char *frame)
{
	for (size_t i = 0; i < path->n; i++)
		if (path_is_one_of(path->items[i].names, frame))
			return true;
	return false;
}
