/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to be on a stack that a walk by tables must know: leaves without a frame,
 * prologues and epilogues, alloca, calls through the PLT into libc and back out
 * of it, longjmp, the vDSO, signals in the middle of anything, deep recursion,
 * threads. Until somebody ends it.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

static volatile unsigned long sink;

FN static unsigned long leaf(unsigned long x)
{
	return x * 2654435761u + 1;
}

/* Mostly prologues and epilogues. */
FN static unsigned long saves(unsigned long a, unsigned long b, unsigned long c)
{
	unsigned long d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(d ^ e);

	return leaf(a + d) + leaf(b + e) + leaf(c + f) + leaf(d + g);
}

FN static unsigned long with_alloca(unsigned int n)
{
	char *room = alloca(n);

	memset(room, (int)n, n);
	return saves(room[0], room[n - 1], n);
}

FN static unsigned long varied(int n, ...)
{
	unsigned long sum = 0;
	va_list ap;

	va_start(ap, n);
	while (n--)
		sum += va_arg(ap, unsigned int);
	va_end(ap);
	return sum;
}

static int by_value(const void *a, const void *b)
{
	return leaf(*(const int *)a) < leaf(*(const int *)b) ? -1 : 1;
}

/* Our function below libc's, which is below ours. */
FN static void through_libc(void)
{
	int values[64];
	char text[200];

	for (int i = 0; i < 64; i++)
		values[i] = (int)leaf(i);
	qsort(values, 64, sizeof(*values), by_value);
	snprintf(text, sizeof(text), "%d %f %s", values[0], values[1] / 3.0, "text");
	sink += strlen(text) + strtoul("12345", NULL, 10);
}

FN static void jump(jmp_buf back, int depth)
{
	char room[64];

	memset(room, depth, sizeof(room));
	if (depth < 0) /* never; or gcc calls it an endless recursion */
		return;
	if (depth)
		jump(back, depth - 1);
	else
		longjmp(back, 1);
	sink += room[3];
}

FN static void jumps(void)
{
	jmp_buf back;

	if (!setjmp(back))
		jump(back, 20);
}

FN static void clocks(void)
{
	struct timespec now;

	for (int i = 0; i < 50; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	sink += now.tv_nsec;
}

FN static unsigned long deep(int n, int frame)
{
	volatile char *room = alloca(frame);

	room[0] = (char)n;
	if (!n) {
		for (int i = 0; i < 200; i++)
			sink += saves(i, i + 1, i + 2);
		return 0;
	}
	return deep(n - 1, frame) + room[0];
}

static void on_alarm(int number)
{
	(void)number;
	for (unsigned int i = 0; i < 3000; i++)
		sink += leaf(i);
}

static void *rounds(void *arg)
{
	for (unsigned int i = 0;; i++) {
		for (unsigned int j = 0; j < 100; j++)
			sink += saves(i, j, sink) + varied(3, i, j, 7);
		sink += with_alloca(64 + i % 1000);
		through_libc();
		jumps();
		clocks();
		if (i % 8 == 0)
			deep(20, 16 + i % 500);
		if (i % 64 == 0)
			deep(100, 2000);
		if (i % 16 == 0)
			getppid();
	}
	return arg;
}

int main(void)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGPROF, &action, NULL);
	if (pthread_create(&thread, NULL, rounds, NULL))
		return 1;
	setitimer(ITIMER_PROF, &often, NULL);
	rounds(NULL);
	return 0;
}
