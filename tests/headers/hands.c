/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads hand operations to and fro, through queues that synchronize and
 * nothing else: captured, labelled, listed while they wait, run on whichever
 * thread takes them; some are fibers, suspended inside a root on one thread and
 * resumed on the other. For a sanitizer to look at. Status 0: all came back.
 */
#define WEFT_REGISTRY
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/fiber.h>

#include <stdio.h>

#define OPERATIONS 32
#define HOPS	   2000

struct operation {
	struct weft_op op;
	struct weft_label label;
	struct weft_leaf leaf;
	struct weft_frame origin;
	struct weft_fiber *fiber;
	struct operation *next;
	long hops;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct operation *first;
	int left; /* operations that have not ended */
};

static struct queue queues[2] = {
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, OPERATIONS },
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, OPERATIONS },
};
static long wrong;

static void put(struct queue *queue, struct operation *operation)
{
	(void)pthread_mutex_lock(&queue->lock);
	weft_leaf_add(&operation->leaf, &operation->op.frame);
	operation->next = queue->first;
	queue->first = operation;
	(void)pthread_cond_signal(&queue->more);
	(void)pthread_mutex_unlock(&queue->lock);
}

static struct operation *take(struct queue *queue)
{
	struct operation *operation;

	(void)pthread_mutex_lock(&queue->lock);
	while (!queue->first && queue->left)
		(void)pthread_cond_wait(&queue->more, &queue->lock);
	operation = queue->first;
	if (operation) {
		queue->first = operation->next;
		weft_leaf_remove(&operation->leaf);
	}
	(void)pthread_mutex_unlock(&queue->lock);
	return operation;
}

static void end_one(void)
{
	for (int i = 0; i < 2; i++) {
		(void)pthread_mutex_lock(&queues[i].lock);
		queues[i].left--;
		(void)pthread_cond_broadcast(&queues[i].more);
		(void)pthread_mutex_unlock(&queues[i].lock);
	}
}

static void hop(struct weft_fiber *self, void *arg)
{
	struct operation *operation = (struct operation *)arg;

	for (; operation->hops < HOPS; operation->hops++) {
		struct weft_frame inner;
		struct weft_entry entry;

		weft_frame_init(&inner, &operation->op.frame, WEFT_HERE());
		weft_root_enter(&entry, &inner);
		if (self)
			(void)weft_fiber_yield(self, NULL);
		if (weft_frame_current() != &inner)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		weft_root_leave(&entry);
		if (!self)
			break;
	}
}

static void run(struct operation *operation)
{
	struct weft_root *root = weft_root_current();
	struct weft_frame step;

	weft_frame_push(root, &step, WEFT_HERE());
	if (operation->fiber) {
		(void)weft_fiber_resume(operation->fiber, NULL);
	} else {
		hop(NULL, operation);
		operation->hops++;
	}
	weft_frame_suspend(root, &step);
	weft_frame_resume(root, &step);
	weft_frame_pop(root, &step);
}

static void *work(void *arg)
{
	struct queue *mine = (struct queue *)arg;
	struct queue *theirs = mine == &queues[0] ? &queues[1] : &queues[0];
	struct operation *operation;

	while ((operation = take(mine))) {
		WEFT_ROOT_SCOPE(&operation->op.frame);
		run(operation);
		if (operation->hops >= HOPS)
			end_one();
		else
			put(theirs, operation);
	}
	if (weft_root_current())
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void count(void *arg, const struct weft_frame *frame)
{
	(void)frame;
	++*(int *)arg;
}

int main(void)
{
	static struct operation operations[OPERATIONS];
	pthread_t threads[2];
	int listed = 0;

	for (int i = 0; i < OPERATIONS; i++) {
		struct operation *operation = &operations[i];

		weft_capture(&operation->op);
		weft_frame_label(&operation->op.frame, &operation->label, "hop");
		if (i % 2 && weft_fiber_new(&operation->fiber, NULL, hop, operation))
			return 2;
		put(&queues[i / 2 % 2], operation);
	}
	weft_leaf_each(count, &listed);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &queues[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	for (int i = 0; i < OPERATIONS; i++) {
		weft_fiber_destroy(operations[i].fiber);
		wrong += operations[i].hops != HOPS;
	}
	if (listed != OPERATIONS || wrong)
		fprintf(stderr, "%d listed, %ld wrong\n", listed, wrong);
	return listed != OPERATIONS || wrong;
}
