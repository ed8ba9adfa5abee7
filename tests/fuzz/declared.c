/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes say of themselves, where nobody would say it. */
#include "parsers.h"

#include "base/cleanup.h"
#include "base/resource.h"
#include "base/str.h"
#include "obj/names.h"
#include "proc/open_environ.h"
#include "record/attribute_pairs.h"

#include <string.h>

/* An environment, and the attributes in a variable of it. */
void fuzz_resource(const uint8_t *data, size_t n)
{
	struct resource resource = { 0 };
	AUTO_FREE char *text = strndup((const char *)data, n);
	AUTO_STR out = { 0 };
	size_t at = 0, all = 0;

	environ_pick(&out, "A,OTEL_SERVICE_NAME,BB", (const char *)data, n);
	for (; at < out.n; at += strlen(out.s + at) + 1, all++)
		REQUIRE(strchr(out.s + at, '='));
	REQUIRE(at == out.n && all <= 3);
	require_error(resource_add_text(&resource, text));
	for (int i = 0; i < N_RESOURCE_ATTRIBUTES; i++)
		if (*resource.values[i])
			require_clean(resource.values[i]);
}

static int on_value(void *arg, size_t index, const char *value, uint64_t start)
{
	REQUIRE(index < 7 && index != 4 && strlen(value) < RESOURCE_VALUE_BYTES);
	require_clean(value);
	return 0;
}

void fuzz_process_context(const uint8_t *data, size_t n)
{
	static const uint64_t attributes[] = {
		0, 1, 2, 3, UINT64_MAX, PROCESS_CONTEXT_KEYS, PROCESS_CONTEXT_KEYS + 255
	};

	require_error(process_context_values(MEMORY_FD, attributes, 7, on_value, NULL));
}

/* The first two bytes: how many keys there are, and which of them are allowed. Those
 * behind are held against the last of each key, looked for by itself. */
void fuzz_attributes(const uint8_t *data, size_t n)
{
	struct attribute_value values[ATTRIBUTE_NAMES_MAX] = { { 0 } }, last = { 0 };
	struct attribute_keys keys = { 0 };
	bool has_unnamed = false;

	if (n < 2)
		return;
	keys.n = data[0];
	for (unsigned int i = 0; i < keys.n; i++)
		keys.allowed[i] = (i * data[1]) % (ATTRIBUTE_NAMES_MAX + 1);
	REQUIRE(attribute_pairs_pick(data + 2, n - 2, NULL, values) ==
		(n >= 4 && n - 4 >= data[3]));
	has_unnamed = attribute_pairs_pick(data + 2, n - 2, &keys, values);
	for (size_t key = 1; key <= ATTRIBUTE_NAMES_MAX; key++) {
		last = (struct attribute_value){ 0 };
		for (size_t at = 2; n - at >= 2 && n - at - 2 >= data[at + 1];
		     at += 2U + data[at + 1]) {
			if (data[at] < keys.n && keys.allowed[data[at]] == key)
				last = (struct attribute_value){ data + at + 2,
								 data[at + 1] };
			REQUIRE(has_unnamed || data[at] < keys.n);
		}
		REQUIRE(values[key - 1].bytes == last.bytes &&
			values[key - 1].n == last.n);
	}
}
