// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/listener_sandbox.h"

#include "base/cleanup.h"
#include "worker/syscall_filter.h"

#include <errno.h>
#include <linux/landlock.h>
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

#define LET(call) FILTER_RULE(call, FILTER_ALLOW)

static void refuse_calls(void)
{
	struct sock_filter filter[] = {
		FILTER_HEAD,	    LET(accept4),
		LET(accept),	    LET(epoll_pwait),
		LET(epoll_ctl),
#ifdef __x86_64__
		LET(epoll_wait),    LET(poll),
#endif
		LET(ppoll),	    LET(recvfrom),
		LET(recvmsg),	    LET(sendto),
		LET(sendmsg),	    LET(shutdown),
		LET(getsockname),   LET(getsockopt),
		LET(setsockopt),    LET(fcntl),
		LET(read),	    LET(write),
		LET(writev),	    LET(pread64),
		LET(close),	    LET(brk),
		LET(mmap),	    LET(mremap),
		LET(munmap),	    LET(madvise),
		LET(futex),	    LET(getrandom),
		LET(clock_gettime), LET(gettimeofday),
		LET(rt_sigreturn),  LET(restart_syscall),
		LET(exit_group),    FILTER_RETURN(FILTER_REFUSE),
	};

	syscall_filter_take(filter, sizeof(filter) / sizeof(*filter));
}

void listener_sandbox(void)
{
	lock_files();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	refuse_calls(); /* the sanitizers' run-time calls more */
#endif
}
