// SPDX-License-Identifier: BSD-2-Clause
/* Probes that read what the kernel says of itself and of our limits. */
#include "base/cleanup.h"
#include "base/error.h"
#include "doctor/probe_parts.h"
#include "kern/arch.h"
#include "kern/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define AGENT_HZ 19 /* from 68 on rings are larger */

void probe_kernel(struct probe_result *result)
{
	struct utsname name = { 0 };

	uname(&name);
	if (strcmp(name.machine, "x86_64") && strcmp(name.machine, "aarch64")) {
		probe_say(result, PROBE_MISSING, "%.32s: weft knows x86-64 and arm64",
			  name.machine);
		probe_todo(result, "use a machine of one of these architectures");
	} else if (!arch_kernel_is_since(5, 10)) {
		probe_say(result, PROBE_MISSING,
			  "%.64s: older than 5.10, without a BPF ring buffer that weft "
			  "can use",
			  name.release);
		probe_todo(result, "boot kernel 5.10 or later");
	} else {
		probe_say(result, PROBE_OK, "%.64s %.32s", name.release, name.machine);
	}
}

void probe_btf(struct probe_result *result)
{
	AUTO_CLOSE int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	uint16_t magic = 0;

	if (fd >= 0 &&
	    (read(fd, &magic, sizeof(magic)) != sizeof(magic) || magic != BTF_MAGIC)) {
		probe_say(result, PROBE_MISSING,
			  "/sys/kernel/btf/vmlinux: not BTF; the sampling program can't "
			  "be adapted to this kernel");
		probe_todo(result, "umount what hides it, or boot a kernel built with "
				   "CONFIG_DEBUG_INFO_BTF=y");
		return;
	}
	if (fd >= 0) {
		probe_say(result, PROBE_OK, "/sys/kernel/btf/vmlinux");
		return;
	}
	probe_say(result, PROBE_MISSING,
		  "/sys/kernel/btf/vmlinux: %s; the sampling program can't be adapted to "
		  "this kernel",
		  strerror(errno));
	probe_todo(result, access("/sys/kernel", F_OK)
				   ? "mount -t sysfs sysfs /sys"
				   : "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y");
}

/* Capabilities count in the initial one alone. Without such namespaces, and without /proc
 * (which probe_pid_namespace() misses), there is no such file. */
void probe_user_namespace(struct probe_result *result)
{
	const ino_t initial = 0xeffffffd; /* PROC_USER_INIT_INO of linux/proc_ns.h */
	struct stat st;

	if (stat("/proc/self/ns/user", &st) || st.st_ino == initial) {
		probe_say(result, PROBE_OK, "the host's");
		return;
	}
	probe_say(result, PROBE_MISSING,
		  "not the host's: its root may not load BPF programs");
	probe_todo(result, "run weft as root of the host, not in a rootless container "
			   "(podman, docker) and not under unshare --user");
}

void probe_pid_namespace(struct probe_result *result)
{
	const ino_t initial = 0xeffffffc; /* PROC_PID_INIT_INO of linux/proc_ns.h */
	struct stat st;

	if (stat("/proc/self/ns/pid", &st)) {
		probe_say(result, PROBE_MISSING,
			  "/proc/self/ns/pid: %s; processes "
			  "can't be identified",
			  strerror(errno));
		probe_todo(result, "mount -t proc proc /proc");
	} else if (st.st_ino != initial) {
		probe_say(result, PROBE_MISSING,
			  "not the host's: process ids would not match");
		probe_todo(result, "run weft on the host, or its container with "
				   "hostPID: true (Kubernetes), --pid=host (Docker)");
	} else {
		probe_say(result, PROBE_OK, "the host's");
	}
}

/* The kernel's half has the kernel's own clocks. Without namespaces of time (until 5.6,
 * or by configuration) there is no such file. */
void probe_time_namespace(struct probe_result *result)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;
	bool is_other = false;

	while (f && fscanf(f, "%*s %lld %lld", &seconds, &ns) == 2)
		is_other |= seconds || ns;
	if (!is_other) {
		probe_say(result, PROBE_OK, "the host's");
		return;
	}
	probe_say(result, PROBE_MISSING,
		  "clocks differ from the kernel's: processes can't be identified");
	probe_todo(result, "run weft on the host, or: nsenter -t 1 -T weft …");
}

void probe_lockdown(struct probe_result *result)
{
	AUTO_FCLOSE FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char modes[128] = "[none]";

	if (f && !fgets(modes, sizeof(modes), f))
		modes[0] = '\0';
	if (!strstr(modes, "[confidentiality]")) {
		probe_say(result, PROBE_OK, "%s",
			  strstr(modes, "[integrity]")
				  ? "integrity, which does not stop weft"
				  : "none");
		return;
	}
	probe_say(result, PROBE_MISSING,
		  "confidentiality: BPF programs may not read memory");
	probe_todo(result, "boot with lockdown=integrity on the kernel's command line");
}

/* Whether the kernel shows us one address that is not 0. */
static bool kallsyms_tells(void)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;

	/* x86 begins with offsets into per-CPU memory, the first of them true zeros */
	for (int i = 0; f && i < 64 && !address; i++)
		if (fscanf(f, "%llx%*[^\n]", &address) != 1)
			break;
	return address;
}

void probe_kernel_names(struct probe_result *result)
{
	long restricted = 0;

	probe_read_number("/proc/sys/kernel/kptr_restrict", &restricted);
	if (kallsyms_tells()) {
		probe_say(result, PROBE_OK, "/proc/kallsyms, kptr_restrict %ld",
			  restricted);
		return;
	}
	if (access("/proc/self", F_OK)) {
		probe_say(result, PROBE_LIMITED, "/proc is not mounted");
		probe_todo(result, "mount -t proc proc /proc");
		return;
	}
	probe_say(result, PROBE_LIMITED,
		  "/proc/kallsyms hides addresses (kptr_restrict %ld): before Linux "
		  "5.14 kernel functions have no names",
		  restricted);
	if (restricted > 1)
		probe_todo(result, "sysctl kernel.kptr_restrict=1");
	else
		probe_todo_capabilities(result);
}

void probe_open_files(struct probe_result *result)
{
	/* a CPU: its event, its sideband, its ring; and the files that are read */
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	rlim_t need = (rlim_t)(cpus > 0 ? cpus : 1) * 4 + 128;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max >= need) {
		probe_say(result, PROBE_OK, "%llu needed at most, and allowed",
			  (unsigned long long)need);
		return;
	}
	probe_say(result, PROBE_MISSING, "%llu allowed, %llu needed for %ld CPUs",
		  (unsigned long long)limit.rlim_max, (unsigned long long)need, cpus);
	probe_todo(result, "as root: ulimit -n %llu", (unsigned long long)need);
}

/* Before 5.11 the memory of BPF maps counted against this limit. */
void probe_locked_memory(struct probe_result *result)
{
	const rlim_t need_bytes = 64 << 20;
	struct rlimit limit;

	if (arch_kernel_is_since(5, 11)) {
		probe_say(result, PROBE_OK, "not limited for BPF by this kernel");
		return;
	}
	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_max >= need_bytes ||
	    probe_has_capability(CAP_SYS_RESOURCE)) {
		probe_say(result, PROBE_OK, "enough, or can be raised");
		return;
	}
	probe_say(result, PROBE_MISSING, "%llu KB allowed, BPF maps need %llu",
		  (unsigned long long)limit.rlim_max >> 10,
		  (unsigned long long)need_bytes >> 10);
	probe_todo(result, "as root: ulimit -l %llu",
		   (unsigned long long)need_bytes >> 10);
}

void probe_kernel_memory(struct probe_result *result)
{
	uint64_t bytes;

	if (sampler_kernel_bytes_min(AGENT_HZ, &bytes)) {
		error_clear();
		probe_say(result, PROBE_LIMITED, "nobody can tell what weft needs");
		return;
	}
	probe_say(result, PROBE_OK,
		  "%.1f MB needed at least, and up to --unwind-memory for tables",
		  (double)bytes / (1 << 20));
}

void probe_cgroup(struct probe_result *result)
{
	AUTO_FCLOSE FILE *f = fopen("/proc/self/mountinfo", "re");
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	char path[128];

	while (f && getline(&line, &room, f) > 0)
		if (strstr(line, " - cgroup2 ") &&
		    sscanf(line, "%*d %*d %*s %*s %127s", path) == 1) {
			probe_say(result, PROBE_OK, "%s", path);
			return;
		}
	probe_say(result, PROBE_LIMITED, "not mounted: --cgroup can't be used");
	probe_todo(result, "mount -t cgroup2 none /sys/fs/cgroup");
}
