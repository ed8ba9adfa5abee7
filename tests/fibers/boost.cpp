// SPDX-License-Identifier: BSD-2-Clause
// boost.fiber: two fibers that yield to each other.
#include <boost/fiber/all.hpp>

static void __attribute__((noinline)) fiber_work(int n)
{
	for (volatile int i = 0; i < n; i = i + 1)
		;
}

static void turns()
{
	for (;;) {
		fiber_work(20000);
		boost::this_fiber::yield();
	}
}

int main()
{
	boost::fibers::fiber one(turns), other(turns);

	one.join();
	other.join();
}
