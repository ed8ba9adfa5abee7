/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intrude PID TRY [WHAT]   has a process make one system call, as if somebody had taken
 *                          it over, and says what the kernel answered: "yes", "no" and
 *                          the error's number, or "killed"
 *
 * TRY: read PATH, write PATH (a new file), socket, bpf (makes a map), perf (watches a
 * CPU), memory PID (reads that process's), trace PID, run PATH, kill PID (asks whether it
 * could). The process goes on as before, if it was not killed. x86-64.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#define ROOM 1024 /* of its stack, behind what leaves may use */

static pid_t pid;
static unsigned long long at; /* in its stack */

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* Bytes of ours, where it can read them. */
static unsigned long long lay(const void *bytes, size_t n)
{
	struct iovec here = { (void *)bytes, n }, there = { (void *)at, n };
	unsigned long long ret = at;

	if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)n)
		fail("its stack");
	at += (n + 15) & ~15ULL;
	return ret;
}

static unsigned long long first_address(const char *of)
{
	char path[64];
	unsigned long long ret = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", of);
	maps = fopen(path, "re");
	if (!maps || fscanf(maps, "%llx", &ret) != 1)
		fail(path);
	fclose(maps);
	return ret;
}

struct call {
	unsigned long long number, args[6];
};

static struct call read_memory(const char *of)
{
	struct iovec here = { (void *)at, 8 }, there = { (void *)first_address(of), 8 };
	unsigned long long ours = lay(&here, sizeof(here));
	unsigned long long theirs = lay(&there, sizeof(there));

	return (struct call){ SYS_process_vm_readv,
			      { strtoull(of, NULL, 10), ours, 1, theirs, 1, 0 } };
}

static struct call make_map(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
				.key_size = 4,
				.value_size = 4,
				.max_entries = 1 };

	return (struct call){
		SYS_bpf, { BPF_MAP_CREATE, lay(&attr, sizeof(attr)), sizeof(attr) }
	};
}

static struct call watch_cpu(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK };

	return (struct call){ SYS_perf_event_open,
			      { lay(&attr, sizeof(attr)), -1ULL, 0, -1ULL, 0 } };
}

static struct call open_file(const char *path, int flags)
{
	return (struct call){ SYS_openat,
			      { (unsigned long long)AT_FDCWD, lay(path, strlen(path) + 1),
				(unsigned long long)flags, 0600 } };
}

static struct call make_call(const char *try, const char *what)
{
	if (!strcmp(try, "read"))
		return open_file(what, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (!strcmp(try, "write"))
		return open_file(what, O_WRONLY | O_CREAT | O_CLOEXEC);
	if (!strcmp(try, "socket"))
		return (struct call){ SYS_socket,
				      { AF_INET, SOCK_STREAM | SOCK_CLOEXEC } };
	if (!strcmp(try, "bpf"))
		return make_map();
	if (!strcmp(try, "perf"))
		return watch_cpu();
	if (!strcmp(try, "memory"))
		return read_memory(what);
	if (!strcmp(try, "trace"))
		return (struct call){ SYS_ptrace,
				      { PTRACE_SEIZE, strtoull(what, NULL, 10) } };
	if (!strcmp(try, "run"))
		return (struct call){ SYS_execve, { lay(what, strlen(what) + 1) } };
	if (!strcmp(try, "kill"))
		return (struct call){ SYS_kill, { strtoull(what, NULL, 10), 0 } };
	errno = EINVAL;
	fail(try);
	exit(2);
}

/* False: it has ended. */
static int stops(void)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid)
		fail("wait");
	return WIFSTOPPED(status);
}

int main(int argc, char **argv)
{
	static const unsigned short syscall_insn = 0x050f;
	struct user_regs_struct before, regs;
	struct iovec insn = { &(unsigned short){ 0 }, 2 };
	struct iovec there = { NULL, 2 };
	struct call call;

	if (argc < 3)
		return 2;
	pid = atoi(argv[1]);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    !stops() || ptrace(PTRACE_GETREGS, pid, 0, &before))
		fail("stop it");
	/* it waits, so such an instruction is the last that it had */
	there.iov_base = (void *)(before.rip - 2);
	if (process_vm_readv(pid, &insn, 1, &there, 1, 0) != 2 ||
	    memcmp(insn.iov_base, &syscall_insn, 2) != 0)
		return 3;
	at = (before.rsp - 128 - ROOM) & ~15ULL;
	call = make_call(argv[2], argc > 3 ? argv[3] : "");
	regs = before;
	regs.rip -= 2;
	regs.orig_rax = -1ULL;
	regs.rax = call.number;
	regs.rdi = call.args[0];
	regs.rsi = call.args[1];
	regs.rdx = call.args[2];
	regs.r10 = call.args[3];
	regs.r8 = call.args[4];
	regs.r9 = call.args[5];
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) || ptrace(PTRACE_SINGLESTEP, pid, 0, 0))
		fail("let it");
	if (!stops()) {
		puts("killed");
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		fail("ask it");
	if ((long long)regs.rax < 0)
		printf("no %lld\n", -(long long)regs.rax);
	else
		puts("yes");
	ptrace(PTRACE_SETREGS, pid, 0, &before);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return 0;
}
