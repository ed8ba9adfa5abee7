/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every ground-truth workload needs: burning a known amount of CPU in the
 * very function that asks for it, system calls through a function with a frame
 * pointer (libc's have none), and handing a turn between threads. In its steady
 * state a workload calls nothing but its own functions, so that each stack it
 * can have is one that its source spells out.
 */
#ifndef WORKLOADS_WORK_H
#define WORKLOADS_WORK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __cplusplus /* as C++23's own <stdatomic.h> has it */
#include <atomic>
#define _Atomic(type) std::atomic<type>
using std::atomic_init;
using std::atomic_load;
using std::atomic_load_explicit;
using std::atomic_store;
using std::atomic_store_explicit;
using std::memory_order_relaxed;
using std::memory_order_release;
#else
#include <stdatomic.h>
#endif

#ifdef __clang__
#define FN __attribute__((noinline, used))
#else
#define FN __attribute__((noipa, used))
#endif
#define INLINE static inline __attribute__((always_inline))
#define UNUSED __attribute__((unused))
/* linux/futex.h is not there for every libc */
#define WAIT_PRIVATE 128
#define WAKE_PRIVATE 129
#define AFTER()	     __asm__ volatile("" ::: "memory")

/*
 * gcc, -fno-omit-frame-pointer or not, gives a function that calls nothing no
 * frame, unless it asks for the frame's address.
 */
#define WITH_FRAME() __asm__ volatile("" ::"r"(__builtin_frame_address(0)))

/*
 * n rounds of a chain of 8 multiplications, 24 cycles on most machines. Nothing
 * else in it takes as long, wherever it lies and whatever the branch predictor
 * thinks of it: so n is proportional to time.
 */
#define CHAIN_2(mul) mul "\n\t" mul "\n\t"
#define CHAIN_8(mul) CHAIN_2(mul) CHAIN_2(mul) CHAIN_2(mul) CHAIN_2(mul)

INLINE void spin_exactly(unsigned long n)
{
	unsigned long x = n;

	WITH_FRAME();
#if defined(__x86_64__)
	__asm__ volatile("1: " CHAIN_8("imul %1, %1") "dec %0\n\tjnz 1b"
			 : "+r"(n), "+r"(x)::"cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: " CHAIN_8("mul %1, %1, %1") "subs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(n), "+r"(x)::"cc");
#else
#error "spin() is not written for this machine"
#endif
}

/*
 * 50 to 149, in no order that a sampler's clock could fall into step with: on a
 * quiet machine a loop of even rounds is seen at a few of its places only.
 */
INLINE unsigned int uneven(void)
{
	static unsigned int state = 1;

	state = state * 1664525 + 1013904223;
	return 50 + (state >> 16) % 100;
}

/* n rounds on the average. */
INLINE void spin(unsigned long n)
{
	spin_exactly(n * uneven() / 100 + 1);
}

/* Any system call. Negative errno as the kernel gives it. */
static FN long sys_call(long nr, long a, long b, long c, long d, long e)
{
	WITH_FRAME();
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#endif
}

/*
 * Ends the process by SIGALRM after ms, so that no loop has to look at a clock,
 * and by SIGKILL when whoever started it dies.
 */
INLINE void work_lifetime(const char *ms)
{
	long n = ms ? atol(ms) : 0;
	struct itimerval timer = { { 0, 0 }, { n / 1000, n % 1000 * 1000 } };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sys_call(SYS_setitimer, ITIMER_REAL, (long)&timer, 0, 0, 0);
}

/*
 * From here on one CPU only, for threads whose shares are compared: the CPUs of
 * a virtual machine can be of different speeds.
 */
INLINE void work_one_cpu(void)
{
	unsigned long mask[16] = { 0 };
	unsigned int cpu = 0;

	sys_call(SYS_getcpu, (long)&cpu, 0, 0, 0, 0);
	mask[cpu / 64 % 16] = 1UL << cpu % 64;
	sys_call(SYS_sched_setaffinity, 0, sizeof(mask), (long)mask, 0, 0);
}

/* Tells whoever waits at the other end of standard output to begin. */
INLINE void work_ready(void)
{
	sys_call(SYS_write, 1, (long)"ready\n", 6, 0, 0);
}

INLINE unsigned long long work_now_ns(void)
{
	struct timespec t = { 0, 0 };

	sys_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

INLINE long work_exit(int status)
{
	return sys_call(SYS_exit_group, status, 0, 0, 0, 0);
}

/* A turn that goes round: threads wait for their number. */
struct turn {
	_Atomic(int) now;
};

static UNUSED FN void turn_wait(struct turn *turn, int me)
{
	int now;

	while ((now = atomic_load(&turn->now)) != me)
		sys_call(SYS_futex, (long)&turn->now, WAIT_PRIVATE, now, 0, 0);
	AFTER();
}

static UNUSED FN void turn_give(struct turn *turn, int to)
{
	atomic_store(&turn->now, to);
	sys_call(SYS_futex, (long)&turn->now, WAKE_PRIVATE, 64, 0, 0);
	AFTER();
}

/* Sleeps for ever, and costs nothing. */
static UNUSED FN void park(void)
{
	for (;;)
		sys_call(SYS_ppoll, 0, 0, 0, 0, 0);
}

static UNUSED pthread_t work_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg))
		_exit(2);
	return thread;
}

static UNUSED int work_usage(const char *program, const char *modes)
{
	fprintf(stderr, "usage: %s %s\n", program, modes);
	return 2;
}

#endif
