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

#endif
