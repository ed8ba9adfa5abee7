// SPDX-License-Identifier: BSD-2-Clause
#include "agent/budget.h"

/* Turns that the mean remembers. */
#define MEAN_TURNS 6

/* Of the budget: where the rate falls, and what a higher one may come to; where something
 * is let go, and where there is room again. */
#define CPU_NEAR 0.9
#define CPU_FITS 0.8

/* All that a sample costs is four to five times what it costs in the kernel. Below this
 * share half the samples are a twentieth of what is used. */
#define KERNEL_SMALL 0.02

#define BYTES_NEAR 0.9
#define BYTES_FIT  0.8
#define BYTES_FAR  1.5

/* Names that are less are not why memory is short. */
#define BYTES_NOTHING (1.0 / 32)

void budget_begin(struct budget *budget, unsigned int asked_hz, double cpu_max,
		  uint64_t bytes_max)
{
	*budget = (struct budget){
		.asked_hz = asked_hz,
		.cpu_max = cpu_max,
		.bytes_max = bytes_max,
	};
}

static unsigned int rate(const struct budget *budget, unsigned int halved)
{
	unsigned int hz = budget->asked_hz >> halved;

	return hz > BUDGET_HZ_MIN ? hz : BUDGET_HZ_MIN;
}

unsigned int budget_hz(const struct budget *budget)
{
	return rate(budget, budget->halved);
}

/* As if all of it were sampling. */
static double cost_of_more(const struct budget *budget)
{
	double more = rate(budget, budget->halved - 1);

	return more / budget_hz(budget);
}

static bool both_over(const struct budget *budget, double share)
{
	return budget->cpu > share && budget->mean > share;
}

static bool both_under(const struct budget *budget, double share)
{
	return budget->cpu < share && budget->mean < share;
}

static bool may_fall(const struct budget *budget)
{
	return budget->is_sampling && budget_hz(budget) > BUDGET_HZ_MIN;
}

void budget_add_cpu(struct budget *budget, uint64_t used_ns, uint64_t kernel_ns,
		    uint64_t time_ns)
{
	if (!time_ns)
		return;
	budget->cpu = (double)used_ns / (double)time_ns;
	budget->is_sampling = (double)kernel_ns > KERNEL_SMALL * (double)used_ns;
	budget->mean += (budget->cpu - budget->mean) / MEAN_TURNS;
	if (both_over(budget, CPU_NEAR * budget->cpu_max)) {
		budget->halved += may_fall(budget);
		return;
	}
	if (budget->halved &&
	    both_under(budget, CPU_FITS * budget->cpu_max / cost_of_more(budget)))
		budget->halved--;
}

bool budget_is_broken(const struct budget *budget)
{
	return !may_fall(budget) && both_over(budget, budget->cpu_max);
}

bool budget_is_full(const struct budget *budget, uint64_t bytes)
{
	return (double)bytes > BYTES_NEAR * (double)budget->bytes_max;
}

static bool is_worth_it(const struct budget *budget, uint64_t bytes, uint64_t let_go)
{
	return (double)let_go > BYTES_NOTHING * (double)budget->bytes_max ||
	       (double)bytes > BYTES_FAR * (double)budget->bytes_max;
}

void budget_set_bytes(struct budget *budget, uint64_t bytes, uint64_t let_go)
{
	if (budget_is_full(budget, bytes) && is_worth_it(budget, bytes, let_go))
		budget->is_short = true;
	else if ((double)bytes < BYTES_FIT * (double)budget->bytes_max)
		budget->is_short = false;
}
