// SPDX-License-Identifier: BSD-2-Clause
#include "proc/ended.h"

/* Each is moved once for one that went. */
static void close_gap(struct ended_queue *queue)
{
	size_t left = queue->items.n - queue->first;

	if (left >= queue->first)
		return;
	memmove(queue->items.items, queue->items.items + queue->first,
		left * sizeof(*queue->items.items));
	queue->items.n = left;
	queue->first = 0;
}

int ended_add(struct ended_queue *queue, const struct ended *one)
{
	struct ended *items;
	size_t i;

	close_gap(queue);
	if (vec_push(&queue->items, *one))
		return -ENOMEM;
	items = queue->items.items;
	for (i = queue->items.n - 1; i > queue->first; i--) {
		if (items[i - 1].time_ns <= one->time_ns)
			break;
		items[i] = items[i - 1];
	}
	items[i] = *one;
	return 0;
}

const struct ended *ended_next(const struct ended_queue *queue, uint64_t before_ns)
{
	const struct ended *first;

	if (queue->first >= queue->items.n)
		return NULL;
	first = &queue->items.items[queue->first];
	return first->time_ns < before_ns ? first : NULL;
}

void ended_drop(struct ended_queue *queue)
{
	queue->first++;
}

void ended_put_off(struct ended_queue *queue, uint64_t time_ns)
{
	struct ended *items = queue->items.items, one = items[queue->first];
	size_t i = queue->first;

	for (; i + 1 < queue->items.n && items[i + 1].time_ns < time_ns; i++)
		items[i] = items[i + 1];
	one.time_ns = time_ns;
	items[i] = one;
}

void ended_free(struct ended_queue *queue)
{
	vec_free(&queue->items);
	queue->first = 0;
}
