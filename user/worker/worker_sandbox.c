// SPDX-License-Identifier: BSD-2-Clause
#include "worker/worker_sandbox.h"

#include "obj/demangle.h"
#include "obj/inlines.h"
#include "worker/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY	     65534
#define MEMORY_BYTES (1ULL << 30)
#define FILES_MAX    (32 + SPLIT_FILES_MAX)

/* The sanitizers' run-time needs more memory and system calls than we grant. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (geteuid() == 0) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			errno = 0; /* a user namespace without it: root of little */
	}
	syscall(SYS_capset, &head, none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (!getrlimit(resource, &now) && now.rlim_max < most)
		most = now.rlim_max;
	setrlimit(resource, &(struct rlimit){ most, most });
}

/* Of ours, which is the first thread's: the kernel keeps 128 MB free below it. */
static void grow_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= DEMANGLE_STACK_BYTES)
		return;
	limit.rlim_cur = limit.rlim_max < DEMANGLE_STACK_BYTES ? limit.rlim_max
							       : DEMANGLE_STACK_BYTES;
	setrlimit(RLIMIT_STACK, &limit);
}

void sandbox_signals(void)
{
	static const int ignored[] = { SIGINT,	SIGQUIT, SIGTERM, SIGHUP,
				       SIGPIPE, SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void sandbox_process(void)
{
	drop_capabilities();
	/* after the change of uid, which takes it back */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
	grow_stack();
	if (!SANITIZED)
		limit(RLIMIT_AS, MEMORY_BYTES);
	if (chdir("/"))
		errno = 0; /* only so that no mount stays busy */
}

static void close_from(unsigned int first)
{
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
		close((int)fd);
}

int sandbox_files(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < (SANITIZED ? 2 : 3); fd++) {
		if (fd == keep)
			continue;
		if (null >= 0)
			dup2(null, fd);
		else
			close(fd);
	}
	if (keep != 3)
		dup2(keep, 3);
	close_from(4);
	limit(RLIMIT_NOFILE, FILES_MAX);
	return 3;
}

#define ALLOW(call) FILTER_RULE(call, FILTER_ALLOW)

#define SIGNAL	  offsetof(struct seccomp_data, args[0])
#define NEW_LIMIT offsetof(struct seccomp_data, args[2])

void sandbox_syscalls(void)
{
	struct sock_filter filter[] = {
		FILTER_HEAD,
		ALLOW(pread64),
		ALLOW(recvmsg),
		ALLOW(sendmsg),
		ALLOW(fstat),
		ALLOW(newfstatat), /* how newer C libraries spell fstat */
		ALLOW(close),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(mremap),
		ALLOW(munmap),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(rt_sigreturn),
		ALLOW(restart_syscall),
		ALLOW(exit_group),
		/* rt_sigaction, of what obj/paged_memory.h handles */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SIGNAL),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGSEGV, 0, 1),
		FILTER_RETURN(FILTER_ALLOW),
		FILTER_RETURN(FILTER_REFUSE),
		/* prlimit64, if it sets nothing */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NEW_LIMIT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NEW_LIMIT + sizeof(uint32_t)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		FILTER_RETURN(FILTER_ALLOW),
		FILTER_RETURN(FILTER_REFUSE),
	};

	if (!SANITIZED)
		syscall_filter_take(filter, sizeof(filter) / sizeof(*filter));
}
