/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event loop as in any C service: sockets by epoll, timers in a heap, and a
 * queue of deferred work. Whatever happens is a callback that run_loop() calls,
 * so a stack always reads main < run_loop < callback. Each kind of callback
 * carries a weft_frame, which remembers who asked for it.
 *
 * One thread. Watches, timers and tasks belong to the caller, who embeds them
 * and keeps them where they are while they are watched, armed or queued.
 */
#ifndef DEMO_LOOP_H
#define DEMO_LOOP_H

#include <weft/async.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMERS_MAX 1024

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* Called while fd is ready; events as epoll(7) has them. */
struct watch {
	struct weft_frame frame;
	void (*ready)(struct watch *watch, uint32_t events);
	int fd;
};

/* Called once, in the order of loop_defer(). */
struct task {
	struct weft_frame frame;
	void (*run)(struct task *task);
	void *owner; /* for run() */
	struct task *next;
};

/* Called once, when it is due. */
struct timer {
	struct weft_frame frame;
	void (*fire)(struct timer *timer);
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	size_t slot;	 /* in the heap; 0 = not armed */
};

struct loop {
	int epoll_fd;
	bool stopping;
	struct task *first, **last;
	struct timer *timers[TIMERS_MAX + 1]; /* a heap, from 1, soonest first */
	size_t n_timers;
};

/* These return 0 or a negative errno. */
int loop_init(struct loop *loop);
int loop_watch(struct loop *loop, struct watch *watch, uint32_t events);
int loop_arm(struct loop *loop, struct timer *timer, uint64_t delay_ns);

void loop_unwatch(struct loop *loop, struct watch *watch);
void loop_disarm(struct loop *loop, struct timer *timer); /* not armed is fine */
void loop_defer(struct loop *loop, struct task *task);
void loop_stop(struct loop *loop); /* run_loop() returns after this round */
void loop_close(struct loop *loop);

/* Runs callbacks until loop_stop(); 0 or a negative errno. */
int run_loop(struct loop *loop);

#endif
