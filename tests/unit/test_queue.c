/* SPDX-License-Identifier: BSD-2-Clause */
/* Events come out by time, each once, whole, whatever order they went in. */
#include "pipeline/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ROUNDS	 400
#define A_ROUND	 50
#define ALL	 (ROUNDS * A_ROUND)
#define ITEM_MAX 300

struct item {
	uint64_t time_ns;
	uint32_t number; /* in the order of going in */
	uint32_t n;	 /* of all that is filled with its number */
};

/* Time, number, and then bytes that only this item has. */
static uint32_t make(unsigned char *bytes, const struct item *item)
{
	memcpy(bytes, item, sizeof(*item));
	memset(bytes + sizeof(*item), (int)item->number, item->n - sizeof(*item));
	return item->n;
}

static void add(struct queue *queue, uint64_t time_ns, uint32_t number)
{
	unsigned char bytes[ITEM_MAX];
	struct item item = { time_ns, number,
			     (uint32_t)(sizeof(item) +
					(uint32_t)rand() % (ITEM_MAX - sizeof(item))) };

	assert_int_equal(
		queue_add(queue, bytes, make(bytes, &item), time_ns, number % 3 == 0), 0);
}

/* Takes what is due, checks it against what went in; returns how many. */
static uint32_t take(struct queue *queue, uint64_t horizon_ns, struct item *last)
{
	const struct queued *event;
	const void *bytes;
	uint32_t n = 0;

	for (; (event = queue_next(queue, horizon_ns, &bytes)); n++) {
		unsigned char want[ITEM_MAX];
		struct item item;

		memcpy(&item, bytes, sizeof(item));
		assert_int_equal((uintptr_t)bytes % 8, 0);
		assert_int_equal(item.n, event->n);
		assert_int_equal(item.time_ns, event->time_ns);
		assert_int_equal(item.number % 3 == 0, event->is_sample);
		make(want, &item);
		assert_memory_equal(bytes, want, item.n);
		assert_true(item.time_ns <= horizon_ns);
		assert_true(item.time_ns >= last->time_ns);
		if (item.time_ns == last->time_ns)
			assert_true(item.number > last->number);
		*last = item;
		assert_int_equal(queue_drop_next(queue), 0);
	}
	return n;
}

static void all_come_out_by_time(void **state)
{
	struct queue queue = { 0 };
	struct item last = { 0 };
	uint32_t n = 0, number = 1;

	srand(1);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < A_ROUND; i++) /* none is older than what was taken */
			add(&queue, 10 * round + (uint64_t)rand() % 40, number++);
		n += take(&queue, 10 * round + 5, &last);
		assert_true(last.time_ns <= 10 * round + 5);
	}
	assert_true(n > ALL / 2);
	assert_true(queue.heap.n > 0);
	n += take(&queue, UINT64_MAX, &last);
	assert_int_equal(n, ALL);
	assert_int_equal(queue.bytes.n, 0);
	queue_free(&queue);
}

static void the_far_future_is_not_moved_each_time(void **state)
{
	struct queue queue = { 0 };
	struct item last = { 0 };
	size_t most = 0;

	srand(2);
	for (uint32_t i = 0; i < 2000; i++)
		add(&queue, UINT64_MAX - i % 7, i + 1);
	for (uint32_t i = 0; i < ALL; i++) {
		add(&queue, i, 2001 + i);
		assert_int_equal(take(&queue, i, &last), 1);
		if (queue.bytes.n > most)
			most = queue.bytes.n;
	}
	/* and its room, and as much again, is all that there is */
	assert_true(most < 2 * 2000 * ITEM_MAX + (128 << 10));
	last = (struct item){ 0 };
	assert_int_equal(take(&queue, UINT64_MAX, &last), 2000);
	queue_free(&queue);
}

static void an_empty_one_has_nothing(void **state)
{
	struct queue queue = { 0 };
	const void *bytes;

	assert_null(queue_next(&queue, UINT64_MAX, &bytes));
	assert_int_equal(queue_add(&queue, "", 0, 5, true), 0);
	assert_null(queue_next(&queue, 4, &bytes));
	assert_non_null(queue_next(&queue, 5, &bytes));
	assert_int_equal(queue_drop_next(&queue), 0);
	assert_null(queue_next(&queue, UINT64_MAX, &bytes));
	queue_free(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_out_by_time),
		cmocka_unit_test(the_far_future_is_not_moved_each_time),
		cmocka_unit_test(an_empty_one_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
