/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft/async.hpp: what lies in memory while coroutines call, wait, end, fail, are
 * destroyed, and change threads. Exit status 0, or an abort at the first line that is not
 * so.
 */
#include "task.hpp"

static task<int> leaf(int value)
{
	CHECK(in_order(3));
	co_await yields{};
	CHECK(in_order(3));
	co_await yields{ true };
	CHECK(in_order(3));
	co_return value;
}

static task<std::string> middle(int value)
{
	CHECK(in_order(2));
	int twice = co_await leaf(value);

	CHECK(in_order(2));
	twice += co_await leaf(value);
	CHECK(in_order(2));
	co_return std::to_string(twice);
}

static task<void> outer(std::string *to)
{
	CHECK(in_order(1));
	*to = co_await middle(21);
	CHECK(in_order(1));
}

static void calls_and_waits()
{
	std::string got;
	auto top = outer(&got);

	weft::mark(top.handle);
	weft::resume(top.handle);
	CHECK(!weft_frame_current());
	loop();
	CHECK(top.handle.done() && got == "42");
}

static task<int> fails(bool waits)
{
	if (waits)
		co_await yields{};
	throw std::runtime_error("no");
}

struct refuses : yields {
	void await_suspend(std::coroutine_handle<>)
	{
		throw std::runtime_error("not now");
	}
};

struct changes_its_mind : yields {
	bool await_suspend(std::coroutine_handle<>)
	{
		return false;
	}
};

static task<int> catches()
{
	int caught = 0;

	for (bool waits : { false, true }) {
		try {
			co_await fails(waits);
		} catch (std::runtime_error &) {
			caught++;
			CHECK(in_order(1));
		}
	}
	try {
		co_await refuses{};
	} catch (std::runtime_error &) {
		caught++;
		CHECK(in_order(1));
	}
	co_await changes_its_mind{};
	CHECK(in_order(1));
	co_return caught;
}

static void exceptions()
{
	auto top = catches();

	weft::resume(top.handle);
	loop();
	CHECK(top.handle.done() && top.await_resume() == 3);
}

static void destroyed_while_it_waits()
{
	std::string got;

	{
		auto top = outer(&got);

		weft::resume(top.handle);
		CHECK(ready.size() == 1);
	}
	ready.clear();
	CHECK(!weft_frame_current() && got.empty());
}

static task<long> many(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		sum += co_await one();
		CHECK(in_order(1));
	}
	co_return sum;
}

static void symmetric_transfer()
{
	auto top = many(1000);

	weft::resume(top.handle);
	CHECK(top.await_resume() == 1000);
}

/* Through an operator co_await, by value, of what cannot be moved. */
struct immovable : yields {
	immovable() = default;
	immovable(immovable &&) = delete;
};

struct wrapped {
	immovable operator co_await() const
	{
		return {};
	}
};

static task<void> awaits_wrapped(yields &named)
{
	co_await wrapped{};
	CHECK(in_order(1));
	co_await named;
	CHECK(in_order(1));
}

static void other_awaitables()
{
	yields named;
	auto top = awaits_wrapped(named);

	weft::resume(top.handle);
	loop();
	CHECK(top.handle.done());
}

struct generator {
	struct promise_type : weft::promise {
		int value = 0;

		generator get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			throw;
		}
	};

	bool next()
	{
		weft::step(handle);
		return !handle.done();
	}

	std::coroutine_handle<promise_type> handle;
};

static generator counts(int n)
{
	for (int i = 0; i < n; i++) {
		CHECK(in_order(2));
		co_yield i;
	}
	if (n > 2)
		throw std::runtime_error("too far");
}

static task<int> consumes(int n)
{
	auto numbers = counts(n);
	int sum = 0;

	try {
		while (numbers.next()) {
			CHECK(in_order(1));
			sum += numbers.handle.promise().value;
		}
	} catch (std::runtime_error &) {
		sum = -sum;
	}
	CHECK(in_order(1));
	numbers.handle.destroy();
	co_return sum;
}

static void generators()
{
	for (int n : { 2, 3 }) {
		auto top = consumes(n);

		weft::resume(top.handle);
		CHECK(top.await_resume() == (n == 2 ? 1 : -3));
	}
}

static void on_another_thread()
{
	std::string got;
	auto top = outer(&got);

	weft::resume(top.handle);
	while (!ready.empty())
		std::thread(loop).join();
	CHECK(top.handle.done() && got == "42");
}

static task<int> waited_for()
{
	CHECK(depth() == (weft_root_current() ? 2 : 0));
	co_return 7;
}

static void a_thread_waits()
{
	auto top = waited_for();
	struct weft_wait wait;

	weft_wait_begin(&wait);
	weft::wait_for(top.handle, &wait);
	std::thread([&] {
		WEFT_ROOT_SCOPE(nullptr);
		weft::resume(top.handle);
	}).join();
	weft_wait_end(&wait);
	CHECK(top.await_resume() == 7);
}

static task<void> starts_another()
{
	starts_at_once(1);
	CHECK(in_order(1));
	co_await yields{};
	CHECK(in_order(1));
}

static void left_to_itself()
{
	starts_at_once(0);
	loop();
	auto top = starts_another();

	weft::resume(top.handle);
	loop();
	CHECK(top.handle.done() && !weft_frame_current());
}

/* Of a marked coroutine the one that asked has ended: it is not gone back to. */
static void outlives_who_asked()
{
	auto top = one();

	{
		struct weft_frame asks;

		weft_frame_init(&asks, nullptr, WEFT_HERE());
		WEFT_ROOT_SCOPE(&asks);
		weft::mark(top.handle);
	}
	WEFT_ROOT_SCOPE(top.handle.promise().weft_frame_of());
	top.handle.resume();
	CHECK(top.handle.done() && !weft_frame_current());
}

/* A task that begins where it is made. */
struct eager {
	struct promise_type : weft::promise, result<int> {
		std::coroutine_handle<> continuation;

		struct final_awaiter : yields {
			auto
			await_suspend(std::coroutine_handle<promise_type> self) noexcept
			{
				return weft::back(self, self.promise().continuation);
			}
			bool await_ready() const noexcept
			{
				return false;
			}
		};

		eager get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(
				*this) };
		}
		std::suspend_never initial_suspend() noexcept
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
	};

	bool await_ready() const noexcept
	{
		return handle.done();
	}
	template <class P> void await_suspend(std::coroutine_handle<P> caller) noexcept
	{
		handle.promise().continuation = caller;
		weft::awaits(handle, caller);
	}
	int await_resume()
	{
		int value = handle.promise().take();

		handle.destroy();
		return value;
	}

	std::coroutine_handle<promise_type> handle;
};

static eager begins(size_t around, size_t awaited)
{
	CHECK(in_order(around)); /* a plain call, so far */
	co_await yields{};
	CHECK(in_order(awaited));
	co_return 1;
}

static eager begins_one(size_t around)
{
	auto last = begins(around, 3);

	CHECK(in_order(around));
	co_await yields{ true };
	CHECK(in_order(around));
	co_return 1 + co_await last;
}

static task<int> awaits_what_began()
{
	auto first = begins_one(1), second = begins(1, 2);

	CHECK(in_order(1)); /* who goes on is who made them */
	int sum = co_await first;

	CHECK(in_order(1));
	sum += co_await second;
	CHECK(in_order(1));
	co_return sum;
}

static void eager_tasks()
{
	auto top = awaits_what_began();

	weft::resume(top.handle);
	CHECK(ready.size() == 2);
	std::swap(ready[0], ready[1]); /* the one that is awaited first goes first */
	loop();
	CHECK(top.handle.done() && top.await_resume() == 3 && !weft_frame_current());
}

int main()
{
	calls_and_waits();
	exceptions();
	destroyed_while_it_waits();
	symmetric_transfer();
	other_awaitables();
	generators();
	on_another_thread();
	a_thread_waits();
	left_to_itself();
	outlives_who_asked();
	eager_tasks();
	return 0;
}
