// SPDX-License-Identifier: BSD-2-Clause
#include "publish/heard.h"

#include "proc/side_event.h"

#include <errno.h>

int heard_add(struct heard *heard, const void *record, size_t bytes)
{
	const struct heard_record one = { side_event_time(record, bytes), heard->bytes.n,
					  bytes };

	str_add_bytes(&heard->bytes, record, bytes);
	return str_error(&heard->bytes) ? -ENOMEM : vec_push(&heard->records, one);
}

void heard_free(struct heard *heard)
{
	vec_free(&heard->records);
	str_free(&heard->bytes);
}

static int by_time(const void *a, const void *b)
{
	const struct heard_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1; /* as they came */
}

int heard_apply(struct heard *heard, struct process_table *processes)
{
	int err = 0;

	vec_sort(&heard->records, by_time);
	for (size_t i = 0; !err && i < heard->records.n; i++) {
		const struct heard_record *one = &heard->records.items[i];
		struct side_event event;

		err = side_event_read(&event, heard->bytes.s + one->at, one->n);
		if (!err)
			err = process_apply(processes, &event);
	}
	heard->records.n = 0;
	str_clear(&heard->bytes);
	process_forget(processes, UINT64_MAX);
	return err;
}
