// SPDX-License-Identifier: BSD-2-Clause
#include "base/resource.h"

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define UNKNOWN "unknown_service"

struct attribute {
	const char *key;
	enum resource_attribute attribute;
};

static const struct attribute attributes[] = {
#define X(name, key, label) { key, RESOURCE_##name },
	RESOURCE_ATTRIBUTES(X)
#undef X
	/* up to version 1.26 of the semantic conventions */
	{ "deployment.environment", RESOURCE_DEPLOYMENT },
};

static const struct attribute *find(const char *key, size_t n)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (strlen(attributes[i].key) == n && !memcmp(attributes[i].key, key, n))
			return &attributes[i];
	return NULL;
}

void resource_add(struct resource *resource, const char *key, size_t n_key,
		  const char *value, size_t n_value)
{
	const struct attribute *found = find(key, n_key);
	char *into = found ? resource->values[found->attribute] : NULL;

	if (!into || *into)
		return;
	if (found->attribute == RESOURCE_SERVICE_NAME && n_value >= strlen(UNKNOWN) &&
	    !memcmp(value, UNKNOWN, strlen(UNKNOWN)))
		return;
	str_clean(into, RESOURCE_VALUE_BYTES, value, n_value);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What %XX stands for; false: there is a % that stands for nothing. Of what is too long
 * for a value, the beginning. */
static bool decode(const char *s, size_t n, char out[RESOURCE_VALUE_BYTES], size_t *ret_n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		int high = 0, low = 0;
		bool is_escape = s[i] == '%';

		if (is_escape) {
			high = i + 2 < n ? digit(s[i + 1]) : -1;
			low = i + 2 < n ? digit(s[i + 2]) : -1;
		}
		if (high < 0 || low < 0)
			return false;
		if (used < RESOURCE_VALUE_BYTES)
			out[used++] = is_escape ? (char)(high << 4 | low) : s[i];
		i += is_escape ? 2 : 0;
	}
	*ret_n = used;
	return true;
}

static void trim(const char **s, size_t *n)
{
	while (*n && (**s == ' ' || **s == '\t')) {
		++*s;
		--*n;
	}
	while (*n && ((*s)[*n - 1] == ' ' || (*s)[*n - 1] == '\t'))
		--*n;
}

static int add_pair(struct resource *resource, const char *pair, size_t n)
{
	const char *equals = memchr(pair, '=', n), *key = pair, *value;
	char decoded[RESOURCE_VALUE_BYTES];
	size_t n_key, n_value;

	if (!equals)
		return fail(-EBADMSG, "OTEL_RESOURCE_ATTRIBUTES has no = in '%.*s'",
			    (int)n, pair);
	n_key = (size_t)(equals - pair);
	value = equals + 1;
	n_value = n - n_key - 1;
	trim(&key, &n_key);
	trim(&value, &n_value);
	if (!decode(value, n_value, decoded, &n_value))
		return fail(-EBADMSG, "OTEL_RESOURCE_ATTRIBUTES has a bad %%");
	resource_add(resource, key, n_key, decoded, n_value);
	return 0;
}

int resource_add_text(struct resource *resource, const char *text)
{
	struct resource with = *resource;
	const char *pair;
	size_t n;
	int err = 0;

	while (!err && list_next(&text, &pair, &n))
		if (n)
			err = add_pair(&with, pair, n);
	if (!err)
		*resource = with;
	return err;
}
