/* SPDX-License-Identifier: BSD-2-Clause */
/* What the log says of the budget (agent/budget.h), each time that something changes. */
#ifndef WEFT_AGENT_BUDGET_LOG_H
#define WEFT_AGENT_BUDGET_LOG_H

#include "agent/agent.h"
#include "agent/budget.h"
#include "agent/metrics.h"

/* It samples at another rate than before. */
void budget_log_rate(const struct budget *budget, unsigned int before);

/* More is used than may be, and the rate stays. */
void budget_log_broken(const struct budget *budget);

/* So much was in use, and so much was let go. */
void budget_log_memory(const struct budget *budget, uint64_t bytes, uint64_t let_go);

/* The kernel's memory was measured; before: what it was then, 0: it begins to sample. */
void budget_log_kernel(const struct agent_options *options, const struct metrics *metrics,
		       uint64_t before);

#endif
