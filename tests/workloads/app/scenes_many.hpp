// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scenes that need more than one operation or thread at a time; as scenes.hpp.
 */
#ifndef APP_SCENES_MANY_HPP
#define APP_SCENES_MANY_HPP

#include "scenes.hpp"

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
