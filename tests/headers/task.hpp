/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small task type of a team's own on weft/async.hpp, a loop for it, and what must be so
 * while its coroutines run.
 */
#ifndef TESTS_HEADERS_TASK_HPP
#define TESTS_HEADERS_TASK_HPP

#include <weft/async.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(is)                                                                        \
	((is) ? void()                                                                   \
	      : (std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #is),           \
		 std::abort()))

template <class T> struct result {
	std::optional<T> value;
	void return_value(T v)
	{
		value = std::move(v);
	}
	T take()
	{
		return std::move(*value);
	}
};

template <> struct result<void> {
	void return_void()
	{
	}
	void take()
	{
	}
};

template <class T> class task
{
      public:
	struct promise_type : weft::promise, result<T> {
		std::coroutine_handle<> continuation;
		std::exception_ptr failure;

		struct final_awaiter {
			bool await_ready() noexcept
			{
				return false;
			}
			auto
			await_suspend(std::coroutine_handle<promise_type> self) noexcept
			{
				return weft::back(self, self.promise().continuation);
			}
			void await_resume() noexcept
			{
			}
		};

		task get_return_object()
		{
			return task(
				std::coroutine_handle<promise_type>::from_promise(*this));
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
			failure = std::current_exception();
		}
	};

	task(task &&other) noexcept : handle(std::exchange(other.handle, nullptr))
	{
	}
	~task()
	{
		if (handle)
			handle.destroy();
	}

	bool await_ready() noexcept
	{
		return false;
	}
	template <class P> auto await_suspend(std::coroutine_handle<P> caller) noexcept
	{
		handle.promise().continuation = caller;
		return weft::call(handle, caller);
	}
	T await_resume()
	{
		if (handle.promise().failure)
			std::rethrow_exception(handle.promise().failure);
		return handle.promise().take();
	}

	std::coroutine_handle<promise_type> handle;

      private:
	explicit task(std::coroutine_handle<promise_type> h) : handle(h)
	{
	}
};

/* The loop: what is queued is a handle without a type. */
static std::vector<std::coroutine_handle<>> ready;

struct yields {
	bool now = false;

	bool await_ready() const noexcept
	{
		return now;
	}
	void await_suspend(std::coroutine_handle<> self)
	{
		ready.push_back(self);
	}
	void await_resume() const noexcept
	{
	}
};

static inline void loop()
{
	while (!ready.empty()) {
		auto next = ready.back();

		ready.pop_back();
		weft::resume(next);
		CHECK(!weft_frame_current());
	}
}

static inline size_t depth()
{
	size_t n = 0;

	for (auto *frame = weft_frame_current(); frame; frame = frame->parent)
		n++;
	return n;
}

static inline bool in_order(size_t frames)
{
#ifdef WEFT_DISABLED
	return (void)frames, depth() == 0;
#else
	for (auto *frame = weft_frame_current(); frame && frame->parent;
	     frame = frame->parent)
		if (!frame->ip)
			return false;
	return depth() == frames;
#endif
}

struct detached {
	struct promise_type : weft::promise {
		detached get_return_object()
		{
			return {};
		}
		std::suspend_never initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
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
};

static inline detached starts_at_once(size_t around)
{
	CHECK(in_order(around)); /* a plain call, so far */
	co_await yields{};
	CHECK(in_order(1));
}

static inline task<int> one()
{
	co_return 1;
}

#endif
