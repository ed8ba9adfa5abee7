// SPDX-License-Identifier: BSD-2-Clause
#include "kern/probe.h"

#include "base/cleanup.h"
#include "kern/probe_parts.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name;
	probe_function run;
} probes[] = {
	{ "kernel", probe_kernel },
	{ "pid namespace", probe_pid_namespace },
	{ "lockdown", probe_lockdown },
	{ "kernel types (BTF)", probe_btf },
	{ "capabilities", probe_cap_load },
	{ "BPF programs", probe_bpf_load },
	{ "BPF compiler (JIT)", probe_bpf_jit },
	{ "BPF ring buffer", probe_bpf_ring },
	{ "user registers", probe_bpf_pt_regs },
	{ "clock event", probe_perf_clock },
	{ "hardware cycles", probe_perf_cycles },
	{ "perf_event_paranoid", probe_perf_paranoid },
	{ "sampling rate", probe_perf_rate },
	{ "build ids", probe_perf_build_ids },
	{ "kernel names", probe_kernel_names },
	{ "CAP_SYS_PTRACE", probe_cap_ptrace },
	{ "CAP_SYSLOG", probe_cap_syslog },
	{ "CAP_DAC_READ_SEARCH", probe_cap_read_search },
	{ "CAP_CHECKPOINT_RESTORE", probe_cap_checkpoint },
	{ "open files", probe_open_files },
	{ "locked memory", probe_locked_memory },
	{ "cgroup v2", probe_cgroup },
};

#define N_PROBES (sizeof(probes) / sizeof(*probes))
_Static_assert(N_PROBES <= PROBES_MOST, "the caller's array holds them all");

void probe_say(struct probe_result *result, enum probe_state state, const char *fmt, ...)
{
	va_list ap;

	result->state = state;
	va_start(ap, fmt);
	vsnprintf(result->what, sizeof(result->what), fmt, ap);
	va_end(ap);
}

void probe_todo(struct probe_result *result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(result->todo, sizeof(result->todo), fmt, ap);
	va_end(ap);
}

bool probe_read_number(const char *path, long *ret)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");

	return f && fscanf(f, "%ld", ret) == 1;
}

size_t probe_all(struct probe_result *ret)
{
	for (size_t i = 0; i < N_PROBES; i++) {
		ret[i] = (struct probe_result){ .name = probes[i].name };
		probes[i].run(&ret[i]);
	}
	return N_PROBES;
}
