// SPDX-License-Identifier: BSD-2-Clause
/*
 * image [MS [NEXT ARGUMENT…]]: burns CPU for MS milliseconds, for ever without
 * them, then becomes the program NEXT, or ends. NAME, given by the build, tells
 * one such program from another that lies at the same addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PASTE(a, b)  a##b
#define NAMED(a, b)  PASTE(a, b)
#define SPIN_ROUNDS  20000
#define FUNCTION(fn) NAMED(NAME, fn)

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) void FUNCTION(_burn)(void)
{
	for (volatile int i = 0; i < SPIN_ROUNDS; i++)
		;
}

__attribute__((noinline)) void FUNCTION(_work)(long until_ms)
{
	do
		FUNCTION(_burn)();
	while (!until_ms || now_ms() < until_ms);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : -1;

	if (ms)
		FUNCTION(_work)(ms < 0 ? 0 : now_ms() + ms);
	if (argc < 3)
		return 0;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
