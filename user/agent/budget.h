/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an agent may use, and what follows from what it does use. Decides by the figures
 * that it is given and looks at nothing itself (agent/usage.h measures).
 *
 * CPU: the rate is halved when the share of the last turn and the mean share of some six
 * turns both come near the budget, so neither a burst that is over nor one that is
 * about to be costs samples. It is doubled when twice the cost would fit as well, so it
 * does not swing. It is never more than was asked for, nor less than BUDGET_HZ_MIN: what
 * weft uses then is not sampling. Nor does it fall where sampling is so small a part of
 * what is used that half of it would save next to nothing.
 *
 * Memory, of the agent and of its helpers: near the budget what can be let go is let go;
 * if that was not enough, no names of new places are looked for until there is room. But
 * names are not given up where they are next to nothing of what is used: others' stacks
 * and mappings may be, and would go on to be. So then it may be half as much again.
 */
#ifndef WEFT_AGENT_BUDGET_H
#define WEFT_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_HZ_MIN 1

struct budget {
	unsigned int asked_hz;
	unsigned int halved; /* so often, rounded down */
	double cpu_max;	     /* of one core: 0.005 is 0.5 % */
	double cpu, mean;    /* in the last turn, and over some of them */
	bool is_sampling;    /* a part of it that is worth saving */
	uint64_t bytes_max;
	bool is_short; /* of memory: nothing new is named */
};

void budget_begin(struct budget *budget, unsigned int asked_hz, double cpu_max,
		  uint64_t bytes_max);

unsigned int budget_hz(const struct budget *budget); /* as it is due */

/* A turn of so long, in which so much was used, at the rate that was due; kernel_ns: of
 * that, by samples in the kernel. */
void budget_add_cpu(struct budget *budget, uint64_t used_ns, uint64_t kernel_ns,
		    uint64_t time_ns);

/* It is more than the budget, and a lower rate would not change that. */
bool budget_is_broken(const struct budget *budget);

/* So much is in use: should what can be let go be let go? */
bool budget_is_full(const struct budget *budget, uint64_t bytes);

/* So much is in use, with all let go that can be, which was so much. */
void budget_set_bytes(struct budget *budget, uint64_t bytes, uint64_t let_go);

#endif
