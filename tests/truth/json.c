/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Each skip returns the place behind what it skips, or NULL. */
static const char *skip_string(const char *p)
{
	if (*p++ != '"')
		return NULL;
	for (; *p && *p != '"'; p++)
		if (*p == '\\' && !*++p)
			return NULL;
	return *p ? p + 1 : NULL;
}

/* A whole value; of objects and arrays only the nesting is looked at. */
static const char *skip_value(const char *p)
{
	int depth = 0;

	do {
		p = skip_space(p);
		if (*p == '{' || *p == '[')
			depth++, p++;
		else if (*p == '}' || *p == ']')
			depth--, p++;
		else if (*p == ',' || *p == ':')
			p++;
		else if (*p == '"')
			p = skip_string(p);
		else if (*p)
			p += strcspn(p, ",:]} \t\r\n");
		else
			return NULL;
	} while (p && depth > 0);
	return p;
}

/* Goes through an object's members: *ret_name and *ret_value of the next one. */
static const char *next_member(const char *p, const char **ret_name,
			       const char **ret_value)
{
	p = skip_space(p);
	if (*p == '{' || *p == ',')
		p = skip_space(p + 1);
	if (*p != '"')
		return NULL;
	*ret_name = p + 1;
	p = skip_string(p);
	if (!p)
		return NULL;
	p = skip_space(p);
	if (*p != ':')
		return NULL;
	*ret_value = skip_space(p + 1);
	return skip_value(*ret_value);
}

static const char *find_member(const char *p, const char *name, size_t n)
{
	const char *found, *value;

	if (*p != '{')
		return NULL;
	while ((p = next_member(p, &found, &value)))
		if (!strncmp(found, name, n) && found[n] == '"')
			return value;
	return NULL;
}

static const char *find(const char *text, const char *where)
{
	const char *p = skip_space(text);

	while (p && *where) {
		size_t n = strcspn(where, ".");

		p = find_member(p, where, n);
		where += n + (where[n] == '.');
	}
	return p;
}

static bool read_number(const char *p, unsigned long long *ret)
{
	char *end;

	if (!isdigit((unsigned char)*p))
		return false;
	*ret = strtoull(p, &end, 10);
	return true;
}

int json_number(const char *text, const char *where, unsigned long long *ret)
{
	const char *p = find(text, where);

	if (!p || !read_number(p, ret))
		return fail(-ENOENT, "no number \"%s\" in the statistics", where);
	return 0;
}

int json_sum(const char *text, const char *where, unsigned long long *ret)
{
	const char *p = find(text, where), *name, *value;
	unsigned long long sum = 0, one;

	if (!p || *p != '{')
		return fail(-ENOENT, "no object \"%s\" in the statistics", where);
	while ((p = next_member(p, &name, &value)))
		if (read_number(value, &one))
			sum += one;
	*ret = sum;
	return 0;
}
