// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/queue.h"

#include <errno.h>

/* Below this nothing is moved for the room that taken events leave. */
#define WORTH_MOVING (64u << 10)

static bool is_before(const struct queued *a, const struct queued *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->turn < b->turn;
}

static void swap(struct queued *a, struct queued *b)
{
	struct queued c = *a;

	*a = *b;
	*b = c;
}

static void rise(struct queued *heap, size_t i)
{
	for (size_t up; i; i = up) {
		up = (i - 1) / 2;
		if (!is_before(&heap[i], &heap[up]))
			return;
		swap(&heap[i], &heap[up]);
	}
}

static void sink(struct queued *heap, size_t n)
{
	for (size_t i = 0, down; (down = 2 * i + 1) < n; i = down) {
		if (down + 1 < n && is_before(&heap[down + 1], &heap[down]))
			down++;
		if (!is_before(&heap[down], &heap[i]))
			return;
		swap(&heap[i], &heap[down]);
	}
}

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static int add_bytes(struct str *to, const void *bytes, size_t n)
{
	static const char zeros[8];

	str_add_bytes(to, bytes, n);
	str_add_bytes(to, zeros, padded(n) - n);
	return str_error(to) ? -ENOMEM : 0;
}

int queue_add(struct queue *queue, const void *bytes, size_t n, uint64_t time_ns,
	      bool is_sample)
{
	struct queued event = { time_ns, queue->turns++, queue->bytes.n, (uint32_t)n,
				is_sample };
	int err = add_bytes(&queue->bytes, bytes, n);

	if (!err)
		err = vec_push(&queue->heap, event);
	if (!err)
		rise(queue->heap.items, queue->heap.n - 1);
	return err;
}

const struct queued *queue_next(const struct queue *queue, uint64_t horizon_ns,
				const void **ret_bytes)
{
	const struct queued *first = queue->heap.items;

	if (!queue->heap.n || first->time_ns > horizon_ns)
		return NULL;
	*ret_bytes = queue->bytes.s + first->at;
	return first;
}

/* Once most bytes are of events that were taken: each is moved for one taken. */
static int close_gaps(struct queue *queue)
{
	struct str old = queue->bytes;
	int err = 0;

	queue->bytes = (struct str){ 0 };
	for (size_t i = 0; !err && i < queue->heap.n; i++) {
		struct queued *event = &queue->heap.items[i];
		size_t at = queue->bytes.n;

		err = add_bytes(&queue->bytes, old.s + event->at, event->n);
		event->at = at;
	}
	queue->taken = 0;
	str_free(&old);
	return err;
}

int queue_drop_next(struct queue *queue)
{
	struct queued *heap = queue->heap.items;

	queue->taken += padded(heap[0].n);
	heap[0] = heap[--queue->heap.n];
	sink(heap, queue->heap.n);
	if (!queue->heap.n) {
		str_clear_to(&queue->bytes, STR_KEPT_BYTES);
		queue->taken = 0;
	}
	if (queue->taken < WORTH_MOVING || queue->taken < queue->bytes.n / 2)
		return 0;
	return close_gaps(queue);
}

void queue_free(struct queue *queue)
{
	vec_free(&queue->heap);
	str_free(&queue->bytes);
}
