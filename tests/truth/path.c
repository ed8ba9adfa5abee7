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
	err = vec_push(path, (struct path_item){ copy, min, max });
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

static int add_text(struct path *path, const char *text, size_t n)
{
	const char *star = memchr(text, '*', n);
	unsigned int min = 1, max = 1;
	int fields;

	if (memchr(text, '{', n))
		return add_range(path, text, n);
	if (star) {
		fields = sscanf(star, "*%u-%u", &min, &max);
		if (fields < 1)
			return fail(-EINVAL, "no count: %.*s", (int)n, text);
		if (fields == 1)
			max = min;
		n = star - text;
	}
	return add_item(path, text, n, min, max);
}

int path_parse(struct path *ret, const char *text)
{
	int err = 0;

	*ret = (struct path){ .rooted = *text == '^' };
	text += ret->rooted;
	while (!err) {
		size_t n = strcspn(text, ";");

		err = add_text(ret, text, n);
		if (!text[n])
			break;
		text += n + 1;
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

static bool fits(const struct path *path, struct at at, const char *const *frames,
		 size_t n)
{
	const struct path_item *item = &path->items[at.item];

	if (!n)
		return at.item + !!at.used > path->after_seam;
	if (at.used < item->max && item_matches(item, *frames) &&
	    fits(path, (struct at){ at.item, at.used + 1 }, frames + 1, n - 1))
		return true;
	if (!strcmp(*frames, GAP_FRAME))
		for (size_t i = at.item; i < path->n; i++)
			if (fits(path, (struct at){ i, 0 }, frames + 1, n - 1))
				return true;
	if (at.used < item->min || at.item + 1 >= path->n)
		return false;
	return fits(path, (struct at){ at.item + 1, 0 }, frames, n);
}

bool path_fits(const struct path *path, const char *const *frames, size_t n)
{
	return n && fits(path, (struct at){ 0, 0 }, frames, n);
}

bool path_fits_cut(const struct path *path, const char *const *frames, size_t n)
{
	if (!n)
		return false;
	for (size_t i = 0; i < path->n; i++)
		for (unsigned int used = 0; used < path->items[i].max; used++)
			if (fits(path, (struct at){ i, used }, frames, n))
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
