// SPDX-License-Identifier: BSD-2-Clause
#include "agent/budget_log.h"

#include "base/log.h"

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

void budget_log_rate(const struct budget *budget, unsigned int before)
{
	unsigned int hz = budget_hz(budget);

	if (hz < before)
		log_warn("budget: weft used %.2f %% of a CPU and may use %.2f %%, so it "
			 "samples at %u Hz instead of %u",
			 100 * budget->cpu, 100 * budget->cpu_max, hz, before);
	else
		log_warn("budget: there is room, so weft samples at %u Hz instead of %u",
			 hz, before);
}

void budget_log_broken(const struct budget *budget)
{
	log_warn("budget: weft uses %.2f %% of a CPU and may use %.2f %%, but this is "
		 "not for sampling: the rate stays at %u Hz",
		 100 * budget->cpu, 100 * budget->cpu_max, budget_hz(budget));
}

void budget_log_memory(const struct budget *budget, uint64_t bytes, uint64_t let_go)
{
	const char *then = budget->is_short
				   ? ", which is not enough: no new names from here on"
				   : "";

	log_warn("budget: weft uses %.1f of %.1f MB of memory, so it lets %.1f MB of "
		 "names go%s",
		 megabytes(bytes), megabytes(budget->bytes_max), megabytes(let_go), then);
}

void budget_log_kernel(const struct agent_options *options, const struct metrics *m,
		       uint64_t before)
{
	uint64_t most = options->record.kernel_bytes_max;

	if (!before && m->unwind_bytes < (uint64_t)options->record.unwind_mb << 20)
		log_warn("budget: unwind tables have %.1f MB of the kernel's memory "
			 "instead of %u, so that all of it stays within %.1f MB",
			 megabytes(m->unwind_bytes), options->record.unwind_mb,
			 megabytes(most));
	if (before <= most && m->kernel_bytes > most)
		log_warn("budget: weft uses %.1f MB of the kernel's memory and may use "
			 "%.1f: raise --kernel-memory-budget, or give tables less, "
			 "--unwind-memory",
			 megabytes(m->kernel_bytes), megabytes(most));
}
