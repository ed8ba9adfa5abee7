/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"

#include "base/error.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* What the names lead to, borrowed from root; NULL: nothing. */
static json_t *find(json_t *root, const char *where)
{
	while (root && *where) {
		size_t n = strcspn(where, ".");

		root = json_object_getn(root, where, n);
		where += n + (where[n] == '.');
	}
	return root;
}

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail(-EINVAL, "line %d of the statistics: %s", error.line, error.text);
	return root;
}

int json_number(const char *text, const char *where, unsigned long long *ret)
{
	json_t *root = parse(text), *number;
	int err = root ? 0 : -EINVAL;

	if (err)
		return err;
	number = find(root, where);
	if (json_is_integer(number))
		*ret = (unsigned long long)json_integer_value(number);
	else
		err = fail(-ENOENT, "no number \"%s\" in the statistics", where);
	json_decref(root);
	return err;
}

int json_sum(const char *text, const char *where, unsigned long long *ret)
{
	json_t *root = parse(text), *object, *value;
	int err = root ? 0 : -EINVAL;
	const char *name;

	if (err)
		return err;
	*ret = 0;
	object = find(root, where);
	if (!json_is_object(object))
		err = fail(-ENOENT, "no object \"%s\" in the statistics", where);
	json_object_foreach(object, name, value) *ret +=
		(unsigned long long)json_integer_value(value);
	json_decref(root);
	return err;
}
