// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/probe.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "doctor/probe_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name;
	probe_function run;
	bool required;
} probes[] = {
	{ "kernel", probe_kernel, true },
	{ "user namespace", probe_user_namespace, true },
	{ "pid namespace", probe_pid_namespace, true },
	{ "time namespace", probe_time_namespace, true },
	{ "lockdown", probe_lockdown, true },
	{ "kernel types (BTF)", probe_btf, true },
	{ "capabilities", probe_cap_load, true },
	{ "BPF programs", probe_bpf_load, false },
	{ "BPF compiler (JIT)", probe_bpf_jit, false },
	{ "BPF ring buffer", probe_bpf_ring, false },
	{ "user registers", probe_bpf_pt_regs, false },
	{ "clock event", probe_perf_clock, false },
	{ "hardware cycles", probe_perf_cycles, false },
	{ "perf_event_paranoid", probe_perf_paranoid, false },
	{ "sampling rate", probe_perf_rate, false },
	{ "build ids", probe_perf_build_ids, false },
	{ "kernel names", probe_kernel_names, false },
	{ "CAP_SYS_PTRACE", probe_cap_ptrace, false },
	{ "CAP_SYSLOG", probe_cap_syslog, false },
	{ "CAP_DAC_READ_SEARCH", probe_cap_read_search, false },
	{ "CAP_CHECKPOINT_RESTORE", probe_cap_checkpoint, false },
	{ "open files", probe_open_files, false },
	{ "locked memory", probe_locked_memory, false },
	{ "kernel memory", probe_kernel_memory, false },
	{ "cgroup v2", probe_cgroup, false },
};

#define N_PROBES (sizeof(probes) / sizeof(*probes))
_Static_assert(N_PROBES <= PROBES_MAX, "the caller's array holds them all");

int probe_require(void)
{
	for (size_t i = 0; i < N_PROBES; i++) {
		struct probe_result result = { .name = probes[i].name };

		if (!probes[i].required)
			continue;
		probes[i].run(&result);
		if (result.state != PROBE_MISSING)
			continue;
		fail(-EOPNOTSUPP, "can't record here: %s: %s", result.name, result.what);
		return fail_hint(-EOPNOTSUPP, "%s", result.todo);
	}
	return 0;
}

size_t probe_all(struct probe_result *ret)
{
	for (size_t i = 0; i < N_PROBES; i++) {
		ret[i] = (struct probe_result){ .name = probes[i].name };
		probes[i].run(&ret[i]);
	}
	return N_PROBES;
}
