// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/listener_sandbox.h"

#include "base/cleanup.h"
#include "worker/worker_sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights that the first version of Landlock knows. */
#define EVERY_RIGHT (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)

static void lock_files(void)
{
	const struct landlock_ruleset_attr all = { .handled_access_fs = EVERY_RIGHT };
	AUTO_CLOSE int rules =
		(int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (rules >= 0) /* a kernel that has it */
		syscall(SYS_landlock_restrict_self, rules, 0);
}

#define LET(call)                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void refuse_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(accept4),
		LET(accept),
		LET(epoll_pwait),
		LET(epoll_ctl),
#ifdef __x86_64__
		LET(epoll_wait),
		LET(poll),
#endif
		LET(ppoll),
		LET(recvfrom),
		LET(recvmsg),
		LET(sendto),
		LET(sendmsg),
		LET(shutdown),
		LET(getsockname),
		LET(getsockopt),
		LET(setsockopt),
		LET(fcntl),
		LET(read),
		LET(write),
		LET(writev),
		LET(pread64),
		LET(close),
		LET(brk),
		LET(mmap),
		LET(mremap),
		LET(munmap),
		LET(madvise),
		LET(futex),
		LET(getrandom),
		LET(clock_gettime),
		LET(gettimeofday),
		LET(rt_sigreturn),
		LET(restart_syscall),
		LET(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

void listener_sandbox(void)
{
	lock_files();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	refuse_calls(); /* the sanitizers' run-time calls more */
#endif
}
