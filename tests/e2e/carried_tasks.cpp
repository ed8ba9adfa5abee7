/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carried_tasks   coroutines that say for which trace they work (weft/async.hpp) and go
 *                 on on another thread
 *
 *	works_for_1   in the coroutine that says so
 *	works_for_2   in one that such a coroutine awaits
 *	turns_to_5    in what that one calls, after it said 5 for itself
 *	nothing       in a coroutine that awaited one which says 3, once that has ended
 *
 * It runs until it is killed.
 */
#include <pthread.h>
#include <weft/async.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#define WORK(name)                                                                       \
	__attribute__((noipa, used)) static void name()                                  \
	{                                                                                \
		for (volatile unsigned int i = 0; i < 300000; i = i + 1)                 \
			;                                                                \
	}
WORK(works_for_1)
WORK(works_for_2)
WORK(turns_to_5)
WORK(nothing)

struct task {
	struct promise_type : weft::promise {
		std::coroutine_handle<> continuation;

		struct final_awaiter {
			bool await_ready() noexcept
			{
				return false;
			}
			void await_resume() noexcept
			{
			}
			auto
			await_suspend(std::coroutine_handle<promise_type> self) noexcept
			{
				return weft::back(self, self.promise().continuation);
			}
		};

		task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		final_awaiter final_suspend() noexcept
		{
			return {};
		}
		void unhandled_exception()
		{
			std::terminate();
		}
		void return_void()
		{
		}
	};

	bool await_ready()
	{
		return false;
	}
	template <class P> auto await_suspend(std::coroutine_handle<P> caller)
	{
		handle.promise().continuation = caller;
		return weft::call(handle, caller);
	}
	void await_resume()
	{
		std::exchange(handle, nullptr).destroy();
	}

	std::coroutine_handle<promise_type> handle;
};

/* Goes on on a thread of its own. */
struct elsewhere {
	bool await_ready()
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> self)
	{
		pthread_t thread;

		if (pthread_create(
			    &thread, nullptr,
			    [](void *arg) -> void * {
				    weft::resume(
					    std::coroutine_handle<>::from_address(arg));
				    return nullptr;
			    },
			    self.address()))
			std::abort();
		pthread_detach(thread);
	}
	void await_resume()
	{
	}
};

struct ids {
	unsigned char trace[16], span[8];

	explicit ids(int k)
	{
		std::memset(trace, k * 0x11, sizeof(trace));
		std::memset(span, k << 4 | 0xa, sizeof(span));
	}
};

static task begin_1()
{
	ids of(1);
	weft::carrying context(of.trace, of.span);

	co_await elsewhere{};
	for (;;)
		works_for_1();
}

static task called()
{
	co_await elsewhere{};
	for (;;) {
		works_for_2();
		ids of(5);
		weft::carrying context(of.trace, of.span);
		turns_to_5();
	}
}

static task begin_2()
{
	ids of(2);
	weft::carrying context(of.trace, of.span);

	co_await elsewhere{};
	co_await called();
}

static task short_one()
{
	ids of(3);
	weft::carrying context(of.trace, of.span);

	co_await elsewhere{};
}

static task begin_nothing()
{
	for (;;) {
		co_await short_one();
		for (int i = 0; i < 200; i++)
			nothing();
	}
}

int main()
{
	weft::resume(begin_1().handle);
	weft::resume(begin_2().handle);
	weft::resume(begin_nothing().handle);
	std::puts("ready");
	std::fflush(stdout);
	pthread_exit(nullptr);
}
