// SPDX-License-Identifier: BSD-2-Clause
#include "worker/network_sandbox.h"

#include "base/cleanup.h"
#include "worker/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights that the first version of Landlock knows. */
#define ALL_RIGHTS  (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)
#define FILE_RIGHTS LANDLOCK_ACCESS_FS_READ_FILE
#define READ_RIGHTS (FILE_RIGHTS | LANDLOCK_ACCESS_FS_READ_DIR)

static void allow_reading(int rules, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = { .parent_fd = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return; /* not everybody has it */
	rule.allowed_access = S_ISDIR(st.st_mode) ? READ_RIGHTS : FILE_RIGHTS;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void lock_files(void)
{
	/* resolvers, lists of certificates, and the libraries of both */
	static const char *const read[] = { "/etc",
					    "/usr",
					    "/lib",
					    "/lib64",
					    "/run/systemd/resolve",
					    "/run/resolvconf",
					    "/run/NetworkManager",
					    "/dev/urandom" };
	const struct landlock_ruleset_attr all = { .handled_access_fs = ALL_RIGHTS };
	AUTO_CLOSE int rules =
		(int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (rules < 0)
		return; /* a kernel without it */
	for (size_t i = 0; i < sizeof(read) / sizeof(*read); i++)
		allow_reading(rules, read[i]);
	syscall(SYS_landlock_restrict_self, rules, 0);
}

static void refuse_calls(void)
{
	struct sock_filter filter[] = {
		FILTER_HEAD,
		FILTER_TAKING_OVER,
		FILTER_RULE(process_vm_readv, FILTER_REFUSE),
		FILTER_RULE(process_vm_writev, FILTER_REFUSE),
		FILTER_RETURN(FILTER_ALLOW),
	};

	syscall_filter_take(filter, sizeof(filter) / sizeof(*filter));
}

void network_sandbox(void)
{
	lock_files();
	refuse_calls();
}
