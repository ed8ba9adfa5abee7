// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the application does. Each coroutine burns CPU in functions that only it
 * calls, so a sample's leaf says which stack it must have, whole and in both views:
 * tests/truth/app_places.c. No co_await stands in a condition: gcc 12 then lays the
 * coroutine's memory out so that what resumes it is not where others look for it.
 */
#ifndef APP_SCENES_HPP
#define APP_SCENES_HPP

#include "flow.hpp"

#define BURNS(name)                                                                      \
	static FN void name(void)                                                        \
	{                                                                                \
		spin(2000);                                                              \
	}
#define SCENE static FN void

/* ---- one awaits the other, and what one throws is caught two below */

struct bad_input {
};

BURNS(request_work)
BURNS(header_work)
BURNS(byte_work)
BURNS(body_work)
BURNS(body_mend)
BURNS(decode_work)
BURNS(inflate_work)

BODY task<int> read_byte(int n)
{
	byte_work();
	co_return n;
}

BODY task<int> read_header(int n)
{
	header_work();
	n += co_await read_byte(n);
	header_work();
	co_return n;
}

BODY task<int> inflate(int n)
{
	inflate_work();
	if (n)
		throw bad_input();
	co_return n;
}

BODY task<int> decode(int n)
{
	decode_work();
	n += co_await inflate(n);
	co_return n;
}

BODY task<int> read_body(int n)
{
	body_work();
	try {
		n += co_await decode(n);
	} catch (const bad_input &) {
		body_mend();
	}
	co_return n;
}

BODY task<int> serve(int n)
{
	request_work();
	n += co_await read_header(n);
	n += co_await read_body(n);
	request_work();
	co_return n;
}

SCENE scene_calls(void)
{
	for (int i = 0; i < 8; i++)
		block_here(serve(i % 4 == 0));
	AFTER();
}

/* ---- deep recursion */

BURNS(deep_end)

static task<int> deep_a(int n);

BODY task<int> deep_c(int n)
{
	int got = co_await deep_a(n - 1);

	co_return got + 1;
}

BODY task<int> deep_b(int n)
{
	int got = co_await deep_c(n - 1);

	co_return got + 1;
}

BODY task<int> deep_a(int n)
{
	if (n > 1) {
		int got = co_await deep_b(n - 1);

		co_return got + 1;
	}
	for (int i = 0; i < 100; i++)
		deep_end();
	co_return 1;
}

SCENE scene_deep(void)
{
	/* a, b, c, a, ..., a: the last is an a */
	if (block_on(&pool_a, deep_a(301)) != 301)
		_exit(6);
	AFTER();
}

/* ---- a generator of a generator */

BURNS(sum_work)
BURNS(evens_work)
BURNS(numbers_work)

BODY generator numbers(int n)
{
	for (int i = 0; i < n; i++) {
		numbers_work();
		co_yield i;
	}
}

BODY generator evens(int n)
{
	generator all = numbers(n);

	for (;;) {
		bool more = co_await all;

		if (!more)
			co_return;
		evens_work();
		if (all.h.promise().value % 2 == 0)
			co_yield all.h.promise().value;
	}
}

BODY task<int> sum_up(int n)
{
	generator of = evens(n);
	int sum = 0;

	for (;;) {
		bool more = co_await of;

		if (!more)
			co_return sum;
		sum += of.h.promise().value;
		sum_work();
	}
}

SCENE scene_generate(void)
{
	block_here(sum_up(16));
	AFTER();
}

/* ---- all of several, of which two go elsewhere; one moves in the midst of it */

BURNS(fan_before)
BURNS(fan_after)
BURNS(near_work)
BURNS(left_work)
BURNS(right_work)
BURNS(mover_here)
BURNS(mover_there)
BURNS(moved_work)

BODY task<int> near(int n)
{
	near_work();
	near_work();
	co_return n;
}

BODY task<int> moved(int n)
{
	moved_work();
	co_return n;
}

BODY task<int> left(int n)
{
	co_await move_to(&pool_b);
	for (int i = 0; i < 4; i++)
		left_work();
	co_return n;
}

BODY task<int> right(int n)
{
	right_work();
	co_await take_turn();
	right_work();
	co_await move_to(&pool_c);
	for (int i = 0; i < 4; i++)
		mover_there();
	n += co_await moved(n);
	co_return n;
}

BODY task<int> fan_out(int n)
{
	fan_before();
	n += co_await collect_all(near(n), left(n), right(n));
	fan_after();
	co_return n;
}

SCENE scene_all(void)
{
	for (int i = 0; i < 4; i++)
		block_on(&pool_a, fan_out(1));
	AFTER();
}

/* ---- the first of two, the other of which is told to stop */

BURNS(race_before)
BURNS(race_after)
BURNS(swift_work)
BURNS(endless_work)

BODY task<int> swift(int n)
{
	for (int i = 0; i < 4; i++) {
		swift_work();
		co_await take_turn();
	}
	co_return n;
}

BODY task<int> endless(int n)
{
	co_await move_to(&pool_b);
	for (;;) {
		bool stop = co_await asked_for();

		if (stop)
			co_return n;
		endless_work();
		co_await take_turn();
	}
}

BODY task<int> race(int n)
{
	int first = 0;

	race_before();
	n += co_await collect_any(swift(n), endless(n), &first);
	race_after();
	co_return n + first;
}

SCENE scene_any(void)
{
	for (int i = 0; i < 4; i++)
		block_on(&pool_a, race(1));
	AFTER();
}

/* ---- in time, and not */

BURNS(hasty_work)
BURNS(lazy_work)
BURNS(lazy_late)
BURNS(guard_after)
BURNS(guard_late)

BODY task<int> hasty(int n)
{
	hasty_work();
	co_return n;
}

BODY task<int> lazy(int n)
{
	lazy_work();
	n += co_await sleep_us(200000);
	lazy_late();
	co_return n;
}

BODY task<int> guard(int n)
{
	n += co_await with_timeout(hasty(n), 100000);
	guard_after();
	try {
		n += co_await with_timeout(lazy(n), 1000);
	} catch (const timed_out &) {
		guard_late();
	}
	co_return n;
}

SCENE scene_time(void)
{
	block_on(&pool_c, guard(1));
	AFTER();
}

/* ---- a value from elsewhere, and what is to be done with it in a third place */

BURNS(compute_work)
BURNS(double_work)
BURNS(fetch_before)
BURNS(fetch_after)

struct fetching {
	struct job compute, twice;
	struct semi computed, doubled;
};

static FN void run_compute(struct job *job)
{
	struct fetching *f = reinterpret_cast<struct fetching *>(job);

	compute_work();
	semi_set(&f->computed, 20);
	AFTER();
}

static FN void run_double(struct job *job)
{
	struct fetching *f = reinterpret_cast<struct fetching *>(job - 1);

	double_work();
	semi_set(&f->doubled, f->computed.value * 2);
	AFTER();
}

BODY task<int> fetch(int n)
{
	struct fetching f = {};

	fetch_before();
	f.compute.run = run_compute;
	f.twice.run = run_double;
	semi_via(&f.computed, &pool_c, &f.twice);
	pool_post(&pool_b, &f.compute);
	co_await waiting<await_semi>{ &f.doubled };
	fetch_after();
	co_return n + f.doubled.value;
}

BODY task<int> fetch_twice(int n)
{
	n += co_await fetch(n);
	n += co_await fetch(n);
	co_return n;
}

SCENE scene_semi(void)
{
	for (int i = 0; i < 4; i++)
		block_on(&pool_a, fetch_twice(1));
	AFTER();
}

/* ---- a thread waits for one that waits for one that waits for a fourth operation */

BURNS(first_work)
BURNS(second_work)
BURNS(third_work)
BURNS(fourth_work)

BODY task<int> level_4(int n)
{
	for (int i = 0; i < 4; i++)
		fourth_work();
	co_return n;
}

BODY task<int> level_3(int n)
{
	third_work();
	n += block_here(level_4(n));
	third_work();
	co_return n;
}

BODY task<int> level_2(int n)
{
	second_work();
	n += block_on(&pool_c, level_3(n));
	second_work();
	co_return n;
}

BODY task<int> level_1(int n)
{
	first_work();
	n += block_on(&pool_b, level_2(n));
	first_work();
	co_return n;
}

SCENE scene_threads(void)
{
	for (int i = 0; i < 4; i++)
		block_on(&pool_a, level_1(1));
	AFTER();
}

/* ---- twelve waits inside each other, on one thread */

BURNS(nest_work)
BURNS(nest_end)

BODY task<int> nest_12(int n)
{
	for (int i = 0; i < 8; i++)
		nest_end();
	co_return n;
}

#define NEST(this, next)                                                                 \
	BODY task<int> nest_##this(int n)                                                \
	{                                                                                \
		nest_work();                                                             \
		n += block_here(nest_##next(n));                                         \
		co_return n;                                                             \
	}
NEST(11, 12)
NEST(10, 11)
NEST(09, 10)
NEST(08, 09)
NEST(07, 08)
NEST(06, 07)
NEST(05, 06)
NEST(04, 05)
NEST(03, 04)
NEST(02, 03)
NEST(01, 02)

SCENE scene_nested(void)
{
	block_here(nest_01(1));
	AFTER();
}

#endif
