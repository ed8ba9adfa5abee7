// SPDX-License-Identifier: BSD-2-Clause
#include "publish/sideband_queue.h"

#include "proc/side_event.h"

#include <errno.h>

int sideband_queue_add(struct sideband_queue *queue, const void *record, size_t bytes)
{
	const struct sideband_record one = { side_event_time(record, bytes),
					     queue->bytes.n, bytes };

	str_add_bytes(&queue->bytes, record, bytes);
	return str_error(&queue->bytes) ? -ENOMEM : vec_push(&queue->records, one);
}

void sideband_queue_free(struct sideband_queue *queue)
{
	vec_free(&queue->records);
	str_free(&queue->bytes);
}

static int by_time(const void *a, const void *b)
{
	const struct sideband_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1; /* as they came */
}

int sideband_queue_apply(struct sideband_queue *queue, struct process_table *processes)
{
	int err = 0;

	vec_sort(&queue->records, by_time);
	for (size_t i = 0; !err && i < queue->records.n; i++) {
		const struct sideband_record *one = &queue->records.items[i];
		struct side_event event;

		err = side_event_read(&event, queue->bytes.s + one->at, one->n);
		if (!err)
			err = process_apply(processes, &event);
	}
	queue->records.n = 0;
	str_clear(&queue->bytes);
	process_forget(processes, UINT64_MAX);
	return err;
}
