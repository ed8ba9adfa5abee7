// SPDX-License-Identifier: BSD-2-Clause
/*
 * What comes later: generators, which go on with each value asked for, and
 * semi-futures, which hold a value to be until somebody says where to go on.
 */
#ifndef APP_FLOW_HPP
#define APP_FLOW_HPP

#include "gather.hpp"

/* ---- generators */

static FN next_step yield_task(struct promise_base *p)
{
	handle then = p->then;

	folly_pop(&p->frame);
	return GO_TO(then);
}

struct yield_awaiter {
	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER next_step await_suspend(std::coroutine_handle<P> h) noexcept
	{
		return yield_task(&h.promise());
	}
	INLINE_MEMBER void await_resume() noexcept
	{
	}
};

struct generator {
	struct promise_type : promise_base {
		int value = 0;
		bool ended = false;

		INLINE_MEMBER generator get_return_object()
		{
			auto h = std::coroutine_handle<promise_type>::from_promise(*this);

			self = h;
			return generator(h);
		}
		INLINE_MEMBER final_awaiter final_suspend() noexcept
		{
			return {};
		}
		INLINE_MEMBER yield_awaiter yield_value(int what)
		{
			value = what;
			return {};
		}
		INLINE_MEMBER void return_void()
		{
			ended = true;
		}
	};

	std::coroutine_handle<promise_type> h;

	INLINE_MEMBER explicit generator(std::coroutine_handle<promise_type> of) : h(of)
	{
	}
	INLINE_MEMBER generator(generator &&from) noexcept
	    : h(std::exchange(from.h, nullptr))
	{
	}
	INLINE_MEMBER ~generator()
	{
		if (h)
			h.destroy();
	}
	/* co_await g: is there another value? */
	INLINE_MEMBER bool await_ready() noexcept
	{
		return false;
	}
	template <class P>
	INLINE_MEMBER next_step await_suspend(std::coroutine_handle<P> caller) noexcept
	{
		return call_task(&caller.promise(), &h.promise());
	}
	INLINE_MEMBER bool await_resume()
	{
		if (h.promise().error)
			std::rethrow_exception(h.promise().error);
		return !h.promise().ended;
	}
};

/* ---- semi-futures: a value, or who is to be told of it */

struct semi {
	struct lock lock;
	bool ready;
	int value;
	struct promise_base *waits; /* a coroutine, at its home */
	struct pool *where;	    /* or a job, there */
	struct job *then;
};

static FN void semi_set(struct semi *semi, int value)
{
	struct promise_base *waits;
	struct pool *where;
	struct job *then;

	semi->lock.get();
	semi->value = value;
	semi->ready = true;
	waits = semi->waits;
	where = semi->where;
	then = semi->then;
	semi->lock.give();
	/* of the semi-future itself nothing from here on: it may be gone */
	if (then)
		pool_post(where, then);
	else if (waits)
		go_home(waits);
	AFTER();
}

/* Its continuation; before it can be ready. */
INLINE void semi_via(struct semi *semi, struct pool *where, struct job *then)
{
	semi->where = where;
	semi->then = then;
}

FN bool await_semi(struct promise_base *p, void *arg)
{
	struct semi *semi = (struct semi *)arg;
	struct AsyncStackRoot *root = p->frame.stackRoot;
	bool waits;

	folly_deactivate(root, &p->frame);
	semi->lock.get();
	waits = !semi->ready;
	semi->waits = p;
	semi->lock.give();
	if (!waits)
		folly_activate(root, &p->frame);
	return waits;
}

#endif
