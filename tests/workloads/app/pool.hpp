// SPDX-License-Identifier: BSD-2-Clause
/*
 * Executors: a thread each, with a queue of jobs. And waiting for what they do: a
 * thread that waits for an operation says so by a root that no thread has.
 */
#ifndef APP_POOL_HPP
#define APP_POOL_HPP

#include "task.hpp"

struct pool {
	struct lock lock;
	struct job *head, **tail;
	std::atomic<int> posted;
};

static FN void pool_post(struct pool *pool, struct job *job)
{
	job->next = nullptr;
	pool->lock.get();
	*pool->tail = job;
	pool->tail = &job->next;
	pool->lock.give();
	pool->posted.fetch_add(1);
	sys_call(SYS_futex, (long)&pool->posted, WAKE_PRIVATE, 1, 0, 0);
	AFTER();
}

/* NULL: there is none */
static FN struct job *pool_take(struct pool *pool)
{
	struct job *job;

	pool->lock.get();
	job = pool->head;
	if (job) {
		pool->head = job->next;
		if (!pool->head)
			pool->tail = &pool->head;
	}
	pool->lock.give();
	return job;
}

static FN void pool_loop(struct pool *pool)
{
	for (;;) {
		int posted = pool->posted.load();
		struct job *job = pool_take(pool);

		if (job)
			job->run(job);
		else
			sys_call(SYS_futex, (long)&pool->posted, WAIT_PRIVATE, posted, 0,
				 0);
	}
}

/* Each has a thread with a name of its own. */
static struct pool pool_a, pool_b, pool_c;

#define POOL_THREAD(name)                                                                \
	static FN void *name##_thread(void *arg)                                         \
	{                                                                                \
		pool_loop(&name);                                                        \
		return arg;                                                              \
	}
POOL_THREAD(pool_a)
POOL_THREAD(pool_b)
POOL_THREAD(pool_c)

INLINE void pool_start(struct pool *pool, void *(*thread)(void *))
{
	pool->tail = &pool->head;
	work_thread(thread, NULL);
}

static FN void run_resume(struct job *job)
{
	struct promise_base *p = static_cast<struct promise_base *>(job);

	resume_with_root(p->self, &p->frame);
	AFTER();
}

/* An operation goes on where it is at home; nothing of it is touched afterwards. */
INLINE void go_home(struct promise_base *p)
{
	p->run = run_resume;
	pool_post(p->home, p);
}

/* co_await move_to(pool): the rest of the coroutine runs there */
FN bool move_task(struct promise_base *p, void *to)
{
	folly_deactivate(p->frame.stackRoot, &p->frame);
	p->home = (struct pool *)to;
	go_home(p);
	AFTER();
	return true;
}

INLINE waiting<move_task> move_to(struct pool *pool)
{
	return { pool };
}

/* ---- to wait for an operation */

struct blocked {
	struct AsyncStackFrame frame;
	struct AsyncStackRoot root;
	std::atomic<int> over;
};

static FN void end_wait(struct promise_base *p)
{
	struct blocked *blocked = (struct blocked *)p->done_for;
	std::atomic<int> *over = &blocked->over;

	over->store(1);
	sys_call(SYS_futex, (long)over, WAKE_PRIVATE, 1, 0, 0);
	AFTER();
}

/* An address in who calls it. */
static FN void *here(void)
{
	return __builtin_return_address(0);
}

#define BEGIN_WAIT(blocked, p)                                                           \
	begin_wait(blocked, p, __builtin_frame_address(0), __builtin_return_address(0),  \
		   here())

INLINE void begin_wait(struct blocked *blocked, struct promise_base *p, void *fp,
		       void *ra, void *in)
{
	folly_frame(&blocked->frame, nullptr, ra);
	blocked->frame.stackRoot = &blocked->root;
	blocked->root.stackFramePtr = fp;
	blocked->root.returnAddress = ra;
	blocked->root.nextRoot = atomic_load(&current_holder()->value);
	atomic_store(&blocked->root.topFrame, &blocked->frame);
	folly_frame(&p->frame, &blocked->frame, in);
	p->done = end_wait;
	p->done_for = blocked;
}

INLINE void finish_wait(struct blocked *blocked)
{
	while (!blocked->over.load())
		sys_call(SYS_futex, (long)&blocked->over, WAIT_PRIVATE, 0, 0, 0);
	AFTER();
}

/* It runs on this thread, until it waits for others itself. */
static FN void wait_here(struct promise_base *p)
{
	struct blocked blocked = {};

	BEGIN_WAIT(&blocked, p);
	resume_with_root(p->self, &p->frame);
	finish_wait(&blocked);
}

static FN void wait_on(struct pool *pool, struct promise_base *p)
{
	struct blocked blocked = {};

	BEGIN_WAIT(&blocked, p);
	p->home = pool;
	go_home(p);
	finish_wait(&blocked);
}

/* Its result, or what it threw. */
template <class T> INLINE T block_here(task<T> what)
{
	wait_here(&what.h.promise());
	return what.h.promise().result();
}

template <class T> INLINE T block_on(struct pool *pool, task<T> what)
{
	wait_on(pool, &what.h.promise());
	return what.h.promise().result();
}

#endif
