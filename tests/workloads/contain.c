/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	contain MS PROGRAM ARGS...
 *
 * Runs it in a container: as the first process of a pid namespace, in a root of its
 * own that holds nothing but the program and the libraries that this one, built in
 * the same way, has mapped itself. No path of the outside leads to these files, nor
 * does the pid that the program has for itself. Such a process dies of no timer of
 * its own, but with this one.
 *
 * All of it lies in main(), which so is the only frame of its own beside sys_call().
 */
#include "work.h"

#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define ROOT "/proc" /* a folder that is there, and that it can do without */
#define OLD  "/old"

INLINE void stop(const char *what)
{
	perror(what);
	_exit(4);
}

INLINE void make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
}

INLINE void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out;
	static char path[4096], bytes[65536];
	ssize_t n;

	snprintf(path, sizeof(path), "%s%s", ROOT, to);
	make_folders(path);
	out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	if (in < 0 || (out < 0 && errno != EEXIST))
		stop(from);
	while (out >= 0 && (n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			stop(path);
	close(in);
	close(out);
}

static int copy_library(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	/* musl calls a static program by a name in ROOT */
	if (info->dlpi_name && info->dlpi_name[0] == '/' &&
	    strncmp(info->dlpi_name, ROOT, strlen(ROOT)))
		copy(info->dlpi_name, info->dlpi_name);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? strrchr(argv[2], '/') : NULL;
	int is_bound[2];
	pid_t child;
	char byte;

	if (!name)
		return work_usage(argv[0], "MS /PATH/PROGRAM ARGS...");
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("contain", ROOT, "tmpfs", 0, NULL))
		stop("contain");
	copy(argv[2], name);
	dl_iterate_phdr(copy_library, NULL);
	mkdir(ROOT OLD, 0755);
	if (chdir(ROOT) || sys_call(SYS_pivot_root, (long)".", (long)"." OLD, 0, 0, 0) ||
	    chdir("/") || umount2(OLD, MNT_DETACH))
		stop("pivot_root");
	/* no alarm here before the child is sure to end with this one */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe2(is_bound, O_CLOEXEC))
		stop("pipe");
	child = fork();
	close(is_bound[child > 0]);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(is_bound[1], "", 1) != 1)
			stop("parent");
		argv[2] = (char *)name;
		execv(name, argv + 2);
		stop(name);
	}
	if (child > 0 && read(is_bound[0], &byte, 1) == 1) {
		work_lifetime(argv[1]);
		waitpid(-1, NULL, 0);
	}
	stop("fork");
}
