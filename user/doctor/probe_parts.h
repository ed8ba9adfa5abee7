/* SPDX-License-Identifier: BSD-2-Clause */
/* The single probes of probe.c, by what they try. Only probe*.c includes this. */
#ifndef WEFT_DOCTOR_PROBE_PARTS_H
#define WEFT_DOCTOR_PROBE_PARTS_H

#include "doctor/probe.h"

#include <linux/capability.h>
#include <stdbool.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

typedef void (*probe_function)(struct probe_result *result);

/* Each sets state, what and todo; what and todo are formats of their own. */
void probe_say(struct probe_result *result, enum probe_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void probe_todo(struct probe_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What to do for want of a capability: root, or all that weft can use, since
 * setcap(8) takes away what it is not told. */
void probe_todo_capabilities(struct probe_result *result);

/* What to do where this system call is not permitted: the same, or who has the
 * capabilities must allow it. */
void probe_todo_allow(struct probe_result *result, const char *call);

/* The number in a file of /proc or /sys; false: unreadable. */
bool probe_read_number(const char *path, long *ret);

/* Does this thread have the capability (CAP_… of linux/capability.h) now? */
bool probe_has_capability(int capability);

/* probe_machine.c */
void probe_kernel(struct probe_result *result);
void probe_btf(struct probe_result *result);
void probe_user_namespace(struct probe_result *result);
void probe_pid_namespace(struct probe_result *result);
void probe_time_namespace(struct probe_result *result);
void probe_lockdown(struct probe_result *result);
void probe_kernel_names(struct probe_result *result);
void probe_open_files(struct probe_result *result);
void probe_locked_memory(struct probe_result *result);
void probe_kernel_memory(struct probe_result *result);
void probe_cgroup(struct probe_result *result);

/* probe_caps.c */
void probe_cap_load(struct probe_result *result);
void probe_cap_ptrace(struct probe_result *result);
void probe_cap_syslog(struct probe_result *result);
void probe_cap_read_search(struct probe_result *result);
void probe_cap_checkpoint(struct probe_result *result);

/* probe_bpf.c */
void probe_bpf_load(struct probe_result *result);
void probe_bpf_jit(struct probe_result *result);
void probe_bpf_ring(struct probe_result *result);
void probe_bpf_pt_regs(struct probe_result *result);

/* probe_perf.c */
void probe_perf_clock(struct probe_result *result);
void probe_perf_cycles(struct probe_result *result);
void probe_perf_paranoid(struct probe_result *result);
void probe_perf_rate(struct probe_result *result);
void probe_perf_build_ids(struct probe_result *result);

#endif
