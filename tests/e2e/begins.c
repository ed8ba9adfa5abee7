// SPDX-License-Identifier: BSD-2-Clause
/* Begins threads all the time, eight at once, and waits for them. */
#include <pthread.h>

static volatile unsigned long sink;

static void *work(void *arg)
{
	for (int i = 0; i < 2000; i++)
		sink += i;
	return arg;
}

__attribute__((noinline)) void begin(pthread_t *threads)
{
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], 0);
	sink++;
}

int main(void)
{
	pthread_t threads[8];

	for (;;)
		begin(threads);
}
