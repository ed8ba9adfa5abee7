// SPDX-License-Identifier: BSD-2-Clause
/* What a probe found, and what to do about it. */
#include "base/cleanup.h"
#include "doctor/probe_parts.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

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

bool probe_has_capability(int capability)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[capability / 32].effective & 1U << capability % 32;
}

/* CAP_BPF and CAP_PERFMON, or what stands for both. */
static bool probe_may_record(void)
{
	return probe_has_capability(CAP_SYS_ADMIN) ||
	       (probe_has_capability(CAP_BPF) && probe_has_capability(CAP_PERFMON));
}

void probe_todo_capabilities(struct probe_result *result)
{
	char path[160] = "";
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	probe_todo(result,
		   "run weft as root, or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
		   "cap_syslog,cap_dac_read_search,cap_checkpoint_restore+ep %s",
		   n > 0 ? path : "/path/to/weft");
}

void probe_todo_allow(struct probe_result *result, const char *call)
{
	if (probe_may_record())
		probe_todo(result,
			   "allow %s: a container's seccomp profile or a security "
			   "module refuses it",
			   call);
	else
		probe_todo_capabilities(result);
}
