/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same where coroutines meet what is not of their team: events that resume them in the
 * middle of other work, coroutines without a frame, several that are started at once.
 */
#include "task.hpp"

/* An event of a library that resumes who waits for it in the middle of set(). */
struct event {
	std::coroutine_handle<> waits;

	bool await_ready() const noexcept
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> self)
	{
		waits = self;
	}
	void await_resume() const noexcept
	{
	}
	void set()
	{
		std::exchange(waits, nullptr).resume();
	}
};

static task<int> waits_for(event &set)
{
	co_await set;
	CHECK(in_order(2));
	co_return 1 + co_await one();
}

static task<int> waits_twice(event &set)
{
	int sum = co_await waits_for(set);

	CHECK(in_order(1));
	co_await set;
	CHECK(in_order(1));
	if (sum) /* asks from where it runs, within another */
		starts_at_once(1);
	co_return sum;
}

static task<void> sets(event &set)
{
	auto *running = weft_frame_current();

	for (int i = 0; i < 2; i++) {
		set.set();
		CHECK(in_order(1) && weft_frame_current() == running);
	}
	co_await yields{};
	CHECK(in_order(1) && weft_frame_current() == running);
}

static void resumed_within_another()
{
	event set;
	auto waiter = waits_twice(set);
	auto top = sets(set);

	weft::resume(waiter.handle);
	weft::resume(top.handle);
	CHECK(!weft_frame_current());
	loop();
	CHECK(top.handle.done() && waiter.handle.done() && waiter.await_resume() == 2);
}

/* What knows nothing of weft, between who asks and who is awaited. */
struct plain {
	struct promise_type {
		std::coroutine_handle<> continuation;

		plain get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		struct final_awaiter : std::suspend_always {
			std::coroutine_handle<>
			await_suspend(std::coroutine_handle<promise_type> self) noexcept
			{
				return self.promise().continuation;
			}
		};
		final_awaiter final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};

	bool await_ready() const noexcept
	{
		return false;
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller)
	{
		handle.promise().continuation = caller;
		return handle;
	}
	void await_resume()
	{
		handle.destroy();
	}

	std::coroutine_handle<promise_type> handle;
};

static plain awaits(task<int> &inner)
{
	co_await inner;
}

static task<int> deep(size_t frames)
{
	CHECK(in_order(frames));
	co_await yields{};
	CHECK(in_order(frames));
	co_return 1;
}

static task<void> through_a_stranger()
{
	auto marked = deep(2), unmarked = deep(1);

	weft::mark(marked.handle);
	co_await awaits(marked);
	CHECK(in_order(1));
	co_await awaits(unmarked);
	CHECK(in_order(1));
}

/* Starts two, and goes on when both have ended. */
struct both {
	task<int> &a, &b;

	bool await_ready() const noexcept
	{
		return false;
	}
	template <class P> bool await_suspend(std::coroutine_handle<P> caller)
	{
		for (auto *one : { &a, &b }) {
			weft::call(one->handle, caller);
			weft::resume(one->handle);
			CHECK(!weft_frame_current());
		}
		return false;
	}
	void await_resume() const noexcept
	{
	}
};

static task<int> at_once(size_t frames)
{
	CHECK(in_order(frames));
	co_return co_await one();
}

static task<void> joins()
{
	auto a = at_once(2), b = at_once(2);

	co_await both{ a, b };
	CHECK(in_order(1) && a.handle.done() && b.handle.done());
}

static task<int> awaits_one_of_others(task<int> &other)
{
	co_return 1 + co_await other;
}

/* A task that ended, and is freed, when the coroutine that awaited it is gone. */
static task<void> keeps_what_another_awaits()
{
	task<int> kept = one();
	int sum = co_await awaits_one_of_others(kept);

	CHECK(sum == 2 && in_order(1));
}

static void run_to_its_end(task<void> top)
{
	weft::resume(top.handle);
	loop();
	CHECK(top.handle.done() && !weft_frame_current());
}

int main()
{
	resumed_within_another();
	run_to_its_end(through_a_stranger());
	run_to_its_end(joins());
	run_to_its_end(keeps_what_another_awaits());
	return 0;
}
