// SPDX-License-Identifier: BSD-2-Clause
// boost.context: a fiber that is resumed in a loop.
#include <boost/context/fiber.hpp>

static void __attribute__((noinline)) fiber_work(int n)
{
	for (volatile int i = 0; i < n; i = i + 1)
		;
}

int main()
{
	boost::context::fiber fiber([](boost::context::fiber &&resumer) {
		for (;;) {
			fiber_work(20000);
			resumer = std::move(resumer).resume();
		}
		return std::move(resumer);
	});

	for (;;)
		fiber = std::move(fiber).resume();
}
