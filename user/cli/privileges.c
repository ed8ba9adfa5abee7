// SPDX-License-Identifier: BSD-2-Clause
#include "cli/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void privileges_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	/* of a setuid file: who started it is meant */
	if (getuid() != geteuid() && setresuid(getuid(), getuid(), getuid()))
		errno = 0;
	if (!geteuid())
		return;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &head, none);
	errno = 0;
}
