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
	hmap_free(&queue->ends);
	ended_free(&queue->ended);
}

static int by_time(const void *a, const void *b)
{
	const struct sideband_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1; /* as they came */
}

/* Rings are read one after the other, and each as soon as it says so. */
#define LATE_NS 2000000000ULL

static int note_end(struct sideband_queue *queue, const struct side_event *event)
{
	void *when = (void *)(uintptr_t)event->time_ns;
	int err = hmap_put(&queue->ends, event->pid, when);

	return err ? err
		   : ended_add(&queue->ended,
			       &(struct ended){ event->time_ns, event->pid, 0 });
}

static void forget_ends(struct sideband_queue *queue, uint64_t now_ns)
{
	const struct ended *one;

	while (now_ns > LATE_NS && (one = ended_next(&queue->ended, now_ns - LATE_NS))) {
		if ((uintptr_t)hmap_get(&queue->ends, one->tgid) == one->time_ns)
			hmap_remove(&queue->ends, one->tgid);
		ended_drop(&queue->ended);
	}
}

static int apply(struct sideband_queue *queue, struct process_table *processes,
		 const struct side_event *event)
{
	const struct process *process;
	int err;

	if (event->time_ns <= (uintptr_t)hmap_get(&queue->ends, event->pid))
		return 0;
	err = process_apply(processes, event);
	if (err || event->kind != SIDE_EXIT)
		return err;
	process = process_get(processes, event->pid);
	if (process ? !process->ended_ns : event->tid && event->tid != event->pid)
		return 0;
	return note_end(queue, event);
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
			err = apply(queue, processes, &event);
	}
	if (queue->records.n)
		forget_ends(queue, queue->records.items[queue->records.n - 1].time_ns);
	queue->records.n = 0;
	str_clear_to(&queue->bytes, STR_KEPT_BYTES);
	process_forget(processes, UINT64_MAX);
	return err;
}
