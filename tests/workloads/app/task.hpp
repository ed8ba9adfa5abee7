// SPDX-License-Identifier: BSD-2-Clause
/*
 * Coroutines whose every step is a function with a name. What is FN may be seen in
 * a profile, and the truth's tables say from where; all else is inlined.
 *
 * Who awaits is left by a tail call where the compiler makes one of it (gcc), and
 * else by way of the loop that resumed it (clang 14 leaves finished coroutines on
 * the stack otherwise).
 */
#ifndef APP_TASK_HPP
#define APP_TASK_HPP

#define KEY_WEAK
#include "../folly.h"

#include <coroutine>
#include <exception>
#include <utility>

#define BODY	      static FN /* a coroutine */
#define INLINE_MEMBER __attribute__((always_inline)) inline

using handle = std::coroutine_handle<>;

struct lock {
	std::atomic<int> taken;

	INLINE_MEMBER void get()
	{
		while (taken.exchange(1, std::memory_order_acquire))
			sys_call(SYS_sched_yield, 0, 0, 0, 0, 0);
	}
	INLINE_MEMBER void give()
	{
		taken.store(0, std::memory_order_release);
	}
};

/* ---- memory of coroutines: given back, never to the system */

#define SIZES	   16 /* classes of 256 bytes */
#define ARENA_SIZE (64UL << 20)

static struct lock memory_lock;
static void *free_frames[SIZES + 1];
static char *arena;
static size_t arena_used;

static FN void *frame_alloc(size_t bytes)
{
	size_t size = (bytes + 255) / 256;
	void *got;

	if (size > SIZES)
		_exit(4);
	memory_lock.get();
	got = free_frames[size];
	if (got) {
		free_frames[size] = *(void **)got;
	} else {
		got = arena + arena_used;
		arena_used += size * 256;
	}
	memory_lock.give();
	if (arena_used > ARENA_SIZE)
		_exit(5);
	return got;
}

static FN void frame_free(void *frame, size_t bytes)
{
	size_t size = (bytes + 255) / 256;

	memory_lock.get();
	*(void **)frame = free_frames[size];
	free_frames[size] = frame;
	memory_lock.give();
	AFTER();
}

/* ---- who runs next on this thread */

#if defined(__clang__)
using next_step = void;
static __thread void *next_up;
#define GO_TO(h)     ((void)(next_up = (h).address()))
#define GO_NOWHERE() ((void)0)
#else
using next_step = handle;
#define GO_TO(h)     (h)
#define GO_NOWHERE() (std::noop_coroutine())
#endif

/* The dispatcher of all operations: a root of its own, and what comes of it. */
static FN void resume_with_root(handle h, struct AsyncStackFrame *frame)
{
	struct AsyncStackRoot root;

	FOLLY_SCOPED_ROOT(&root);
	folly_activate(&root, frame);
#if defined(__clang__)
	do {
		next_up = nullptr;
		h.resume();
		h = handle::from_address(next_up);
	} while (h);
#else
	h.resume();
#endif
	folly_root_leave(&root);
}

/* ---- promises */

struct pool;
struct cancel_token;

struct job {
	struct job *next;
	void (*run)(struct job *job);
};

struct promise_base : job {
	struct AsyncStackFrame frame = {};
	handle self;
	handle then; /* of who awaits this one, on the same thread */
	void (*done)(struct promise_base *) = nullptr; /* where nobody does so */
	void *done_for = nullptr;
	struct pool *home = nullptr;
	struct cancel_token *token = nullptr;
	std::exception_ptr error;

	INLINE_MEMBER void *operator new(size_t bytes)
	{
		return frame_alloc(bytes);
	}
	INLINE_MEMBER void operator delete(void *frame, size_t bytes)
	{
		frame_free(frame, bytes);
	}
	INLINE_MEMBER std::suspend_always initial_suspend() noexcept
	{
		return {};
	}
	INLINE_MEMBER void unhandled_exception() noexcept
	{
		error = std::current_exception();
	}
};

static FN next_step finish_task(struct promise_base *p)
{
	if (p->then) {
		handle then = p->then;

		folly_pop(&p->frame);
		return GO_TO(then);
	}
	folly_deactivate(p->frame.stackRoot, &p->frame);
	p->done(p);
	AFTER();
	return GO_NOWHERE();
}

static FN next_step call_task(struct promise_base *caller, struct promise_base *callee)
{
	callee->then = caller->self;
	callee->home = caller->home;
	callee->token = caller->token;
	folly_push(&caller->frame, &callee->frame, __builtin_return_address(0));
	return GO_TO(callee->self);
}

struct final_awaiter {
	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER next_step await_suspend(std::coroutine_handle<P> h) noexcept
	{
		return finish_task(&h.promise());
	}
	INLINE_MEMBER void await_resume() noexcept
	{
	}
};

template <class T> struct task_promise;

template <class T> struct [[nodiscard]] task {
	using promise_type = task_promise<T>;

	std::coroutine_handle<promise_type> h;

	INLINE_MEMBER explicit task(std::coroutine_handle<promise_type> of) : h(of)
	{
	}
	INLINE_MEMBER task(task &&from) noexcept : h(std::exchange(from.h, nullptr))
	{
	}
	INLINE_MEMBER ~task()
	{
		if (h)
			h.destroy();
	}
	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER next_step await_suspend(std::coroutine_handle<P> caller) noexcept
	{
		return call_task(&caller.promise(), &h.promise());
	}
	INLINE_MEMBER T await_resume()
	{
		return h.promise().result();
	}
};

template <class T> struct task_promise : promise_base {
	T value;

	INLINE_MEMBER task<T> get_return_object()
	{
		auto h = std::coroutine_handle<task_promise>::from_promise(*this);

		self = h;
		return task<T>(h);
	}
	INLINE_MEMBER final_awaiter final_suspend() noexcept
	{
		return {};
	}
	INLINE_MEMBER void return_value(T what)
	{
		value = what;
	}
	INLINE_MEMBER T result()
	{
		if (error)
			std::rethrow_exception(error);
		return value;
	}
};

/* Gives co_await a function: bool SUSPEND(promise, argument), true: it waits. */
template <bool (*SUSPEND)(struct promise_base *, void *)> struct waiting {
	void *argument;

	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER bool await_suspend(std::coroutine_handle<P> h) noexcept
	{
		return SUSPEND(&h.promise(), argument);
	}
	INLINE_MEMBER void await_resume() noexcept
	{
	}
};

#endif
