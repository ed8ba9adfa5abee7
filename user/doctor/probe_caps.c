// SPDX-License-Identifier: BSD-2-Clause
/*
 * Capabilities, and what each is for. What the kernel asks for was tried with
 * an ordinary user and ambient capabilities.
 */
#include "doctor/probe_parts.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Older headers lack them; the numbers are the kernel's ABI. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

void probe_cap_load(struct probe_result *result)
{
	bool bpf = probe_has_capability(CAP_BPF);
	bool perfmon = probe_has_capability(CAP_PERFMON);

	if (probe_has_capability(CAP_SYS_ADMIN)) {
		probe_say(result, PROBE_OK, "CAP_SYS_ADMIN");
		return;
	}
	if (bpf && perfmon) {
		probe_say(result, PROBE_OK, "CAP_BPF and CAP_PERFMON");
		return;
	}
	probe_say(result, PROBE_MISSING, "%s: weft can't load a program and can't sample",
		  bpf	    ? "CAP_PERFMON is missing"
		  : perfmon ? "CAP_BPF is missing"
			    : "CAP_BPF and CAP_PERFMON are missing");
	probe_todo_capabilities(result);
}

static void probe_one(struct probe_result *result, int capability, const char *cost)
{
	if (probe_has_capability(capability)) {
		probe_say(result, PROBE_OK, "held");
		return;
	}
	probe_say(result, PROBE_LIMITED, "not held: %s", cost);
	probe_todo_capabilities(result);
}

void probe_cap_ptrace(struct probe_result *result)
{
	probe_one(result, CAP_SYS_PTRACE,
		  "other users' processes show addresses instead of names, and no "
		  "async callers");
}

void probe_cap_syslog(struct probe_result *result)
{
	probe_one(result, CAP_SYSLOG, "kernel functions may have no names");
}

void probe_cap_read_search(struct probe_result *result)
{
	probe_one(result, CAP_DAC_READ_SEARCH,
		  "files not readable by everyone give no names and no async keys");
}

/* CAP_SYS_ADMIN opens map_files as well. */
void probe_cap_checkpoint(struct probe_result *result)
{
	if (probe_has_capability(CAP_SYS_ADMIN))
		probe_say(result, PROBE_OK, "held, as CAP_SYS_ADMIN");
	else
		probe_one(result, CAP_CHECKPOINT_RESTORE,
			  "files deleted or replaced while running give no names");
}
