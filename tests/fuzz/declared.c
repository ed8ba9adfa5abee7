/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes say of themselves, where nobody would say it. */
#include "parsers.h"

#include "base/cleanup.h"
#include "base/resource.h"
#include "base/str.h"
#include "obj/names.h"
#include "proc/open_environ.h"

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
