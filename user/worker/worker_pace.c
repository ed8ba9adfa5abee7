// SPDX-License-Identifier: BSD-2-Clause
#include "worker/worker_pace.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

/* The tables of a machine that compiles, 110 files, took 0.4 s, and a dozen files that
 * nobody can read to their end some 13 s, until they are given up. A slow parser misses
 * deadlines that are the clock's, and makes others wait: that is for who goes on. */
#define FULL_NS	     20000000000LL
#define ENOUGH_NS    1000000000LL /* to be let go before others again */
#define REFILL	     20		  /* a 20th of a CPU */
#define SLOW_NICE    10
#define LOOK_MS	     20
#define LOOK_IDLE_MS 10000

/* false: it has ended. */
static bool cpu_time(const struct pace *pace, uint64_t *ret_ns)
{
	struct timespec taken;

	if (!pace->parser || clock_gettime(pace->clock, &taken))
		return false;
	*ret_ns = (uint64_t)taken.tv_sec * 1000000000 + (uint64_t)taken.tv_nsec;
	return true;
}

/* To go before others again takes a privilege; without it a parser stays slow. */
static void set_slow(struct pace *pace, bool slow)
{
	if (!setpriority(PRIO_PROCESS, (id_t)pace->parser,
			 slow ? pace->slow : pace->usual))
		pace->is_slow = slow;
	errno = 0;
}

void pace_begin(struct pace *pace, int64_t now_ms)
{
	int usual = getpriority(PRIO_PROCESS, 0);

	*pace = (struct pace){
		.usual = usual,
		.slow = usual > SLOW_NICE ? usual : SLOW_NICE,
		.balance_ns = FULL_NS,
		.looked_ms = now_ms,
	};
}

static void choose(struct pace *pace)
{
	bool slow = !pace->hurries && (pace->is_behind || pace->is_spent);

	if (pace->parser && slow != pace->is_slow)
		set_slow(pace, slow);
}

void pace_take(struct pace *pace, pid_t parser)
{
	pace->parser = clock_getcpuclockid(parser, &pace->clock) ? 0 : parser;
	pace->taken_ns = pace->lap_ns = 0;
	pace->is_slow = false; /* it was forked at our own */
	choose(pace);
}

static void charge(struct pace *pace, int64_t now_ms)
{
	uint64_t taken_ns;

	if (!cpu_time(pace, &taken_ns))
		return;
	pace->balance_ns += (now_ms - pace->looked_ms) * 1000000 / REFILL;
	if (!pace->is_behind)
		pace->balance_ns -= (int64_t)(taken_ns - pace->taken_ns);
	if (pace->balance_ns > FULL_NS)
		pace->balance_ns = FULL_NS;
	if (pace->balance_ns < -FULL_NS)
		pace->balance_ns = -FULL_NS;
	pace->looked_ms = now_ms;
	pace->taken_ns = taken_ns;
	pace->is_spent = pace->balance_ns <= (pace->is_spent ? ENOUGH_NS : -1);
	choose(pace);
}

void pace_go_behind(struct pace *pace, bool is_behind, int64_t now_ms)
{
	if (pace->is_behind == is_behind)
		return;
	charge(pace, now_ms);
	pace->is_behind = is_behind;
	choose(pace);
}

bool pace_is_due(const struct pace *pace, bool is_idle, int64_t now_ms)
{
	return now_ms - pace->looked_ms >= (is_idle ? LOOK_IDLE_MS : LOOK_MS);
}

void pace_keep(struct pace *pace, int64_t now_ms)
{
	if (pace_is_due(pace, false, now_ms))
		charge(pace, now_ms);
}

uint64_t pace_lap(struct pace *pace)
{
	uint64_t before = pace->lap_ns, taken_ns;

	if (!cpu_time(pace, &taken_ns) || taken_ns < before)
		return 0;
	pace->lap_ns = taken_ns;
	return taken_ns - before;
}

void pace_hurry(struct pace *pace, bool hurries)
{
	pace->hurries = hurries;
	choose(pace);
}

void pace_leave(struct pace *pace, int64_t now_ms)
{
	charge(pace, now_ms);
	pace->parser = 0;
}
