/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64
#define NS_PER_MS      1000000u

int loop_init(struct loop *loop)
{
	*loop = (struct loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	loop->last = &loop->first;
	return loop->epoll_fd < 0 ? -errno : 0;
}

void loop_close(struct loop *loop)
{
	close(loop->epoll_fd);
}

void loop_stop(struct loop *loop)
{
	loop->stopping = true;
}

static int epoll_do(struct loop *loop, int what, struct watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return epoll_ctl(loop->epoll_fd, what, watch->fd, &event) ? -errno : 0;
}

int loop_watch(struct loop *loop, struct watch *watch, uint32_t events)
{
	return epoll_do(loop, EPOLL_CTL_ADD, watch, events);
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
	epoll_do(loop, EPOLL_CTL_DEL, watch, 0);
}

void loop_defer(struct loop *loop, struct task *task)
{
	task->next = NULL;
	*loop->last = task;
	loop->last = &task->next;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void timer_put(struct loop *loop, struct timer *timer, size_t slot)
{
	loop->timers[slot] = timer;
	timer->slot = slot;
}

static void timer_rise(struct loop *loop, struct timer *timer, size_t slot)
{
	for (; slot > 1 && loop->timers[slot / 2]->due_ns > timer->due_ns; slot /= 2)
		timer_put(loop, loop->timers[slot / 2], slot);
	timer_put(loop, timer, slot);
}

static void timer_sink(struct loop *loop, struct timer *timer, size_t slot)
{
	for (size_t child; (child = 2 * slot) <= loop->n_timers; slot = child) {
		if (child < loop->n_timers &&
		    loop->timers[child + 1]->due_ns < loop->timers[child]->due_ns)
			child++;
		if (loop->timers[child]->due_ns >= timer->due_ns)
			break;
		timer_put(loop, loop->timers[child], slot);
	}
	timer_put(loop, timer, slot);
}

int loop_arm(struct loop *loop, struct timer *timer, uint64_t delay_ns)
{
	loop_disarm(loop, timer);
	if (loop->n_timers == TIMERS_MAX)
		return -ENOSPC;
	timer->due_ns = now_ns() + delay_ns;
	timer_rise(loop, timer, ++loop->n_timers);
	return 0;
}

void loop_disarm(struct loop *loop, struct timer *timer)
{
	size_t slot = timer->slot;
	struct timer *moved;

	if (!slot)
		return;
	timer->slot = 0;
	moved = loop->timers[loop->n_timers--];
	if (moved == timer)
		return;
	timer_sink(loop, moved, slot);
	timer_rise(loop, moved, moved->slot);
}

static void run_tasks(struct loop *loop)
{
	struct task *task = loop->first;

	/* what these defer has its turn after the sockets */
	loop->first = NULL;
	loop->last = &loop->first;
	while (task) {
		struct task *next = task->next;

		WEFT_ROOT_SCOPE(&task->frame);
		task->run(task);
		task = next;
	}
}

static void run_timers(struct loop *loop)
{
	uint64_t now = now_ns();

	while (loop->n_timers && loop->timers[1]->due_ns <= now) {
		struct timer *timer = loop->timers[1];

		loop_disarm(loop, timer);
		WEFT_ROOT_SCOPE(&timer->frame);
		timer->fire(timer);
	}
}

static int wait_ms(const struct loop *loop)
{
	uint64_t now;

	if (loop->first || loop->stopping)
		return 0;
	if (!loop->n_timers)
		return -1;
	now = now_ns();
	if (loop->timers[1]->due_ns <= now)
		return 0;
	return (int)((loop->timers[1]->due_ns - now + NS_PER_MS - 1) / NS_PER_MS);
}

static int run_watches(struct loop *loop)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, wait_ms(loop));

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		WEFT_ROOT_SCOPE(&watch->frame);
		watch->ready(watch, events[i].events);
	}
	return 0;
}

int run_loop(struct loop *loop)
{
	int err = 0;

	while (!loop->stopping && !err) {
		run_tasks(loop);
		run_timers(loop);
		err = run_watches(loop);
	}
	return err;
}
