// SPDX-License-Identifier: BSD-2-Clause
#include "record/context_values.h"

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

#define PARSE_MS 200

struct asker {
	const char *names;
	struct context_values values;
};

/* The parser is nobody's friend: what it says is bounded again. */
static int on_value(void *arg, size_t i, const char *value, uint64_t start)
{
	struct asker *asker = arg;
	struct attribute_keys *keys = &asker->values.keys;
	size_t index = i - N_RESOURCE_ATTRIBUTES;

	if (i < N_RESOURCE_ATTRIBUTES) {
		str_clean(asker->values.resource.values[i], RESOURCE_VALUE_BYTES, value,
			  strlen(value));
	} else if (index < ATTRIBUTE_KEYS) {
		keys->allowed[index] =
			(uint8_t)(list_place(asker->names, value, strlen(value)) + 1);
		if (keys->n <= index)
			keys->n = (unsigned int)index + 1;
	}
	return 0;
}

int context_values_ask(struct worker *worker, int fd, const char *names,
		       struct context_values *ret)
{
	uint64_t wanted[N_RESOURCE_ATTRIBUTES + ATTRIBUTE_KEYS];
	const struct name_request request = {
		.source = NAMES_PROCESS_CONTEXT,
		.fd = fd,
		.addrs = wanted,
		.n = N_RESOURCE_ATTRIBUTES + (names ? ATTRIBUTE_KEYS : 0),
		.deadline_ms = PARSE_MS,
	};
	struct asker asker = { .names = names };
	int err;

	for (size_t i = 0; i < N_RESOURCE_ATTRIBUTES; i++)
		wanted[i] = i;
	for (size_t i = 0; i < ATTRIBUTE_KEYS; i++)
		wanted[N_RESOURCE_ATTRIBUTES + i] = PROCESS_CONTEXT_KEYS + i;
	err = worker_names(worker, &request, on_value, &asker);
	if (err)
		return fail(err, err == -EBADMSG
					 ? "its process context is no such message"
					 : "its process context can't be parsed");
	*ret = asker.values;
	return 0;
}
