/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose perf maps are read: those of the process's user, or of root, also when the
 * process has ended and nobody can ask it any more. */
#include "proc/open.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "child.h"

#define SOME_USER 65534
#define BYTES	  100

static char path[64];

/* Of us, or of a user who is not root. */
static uid_t make_map(pid_t pid)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	if (!getuid())
		assert_int_equal(fchown(fd, SOME_USER, SOME_USER), 0);
	close(fd);
	return getuid() ? getuid() : SOME_USER;
}

static int remove_map(void **state)
{
	return unlink(path);
}

static int try(pid_t pid, bool known, uid_t uid, pid_t inner)
{
	const struct owner kept = { .known = known, .uid = uid, .inner_pid = inner };
	AUTO_CLOSE int fd = -1;

	return open_perf_map(pid, &kept, BYTES, &fd);
}

static void of_one_that_has_ended(void **state)
{
	pid_t pid = new_child();
	uid_t uid = make_map(pid);

	end_child(pid);
	assert_int_equal(try(pid, true, uid, pid), 0);
	assert_int_equal(try(pid, true, uid - 1, pid), -EPERM);
	assert_int_equal(try(pid, true, 0, pid), -EPERM);
	assert_int_equal(try(pid, false, 0, pid), -EPERM); /* never seen */
	/* it lived in a container: the file here is another's */
	assert_int_equal(try(pid, true, uid, pid + 1), -ENOENT);
	if (getuid())
		return;
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(try(pid, true, uid, pid), 0);
	assert_int_equal(try(pid, false, 0, pid), 0);
	/* in a namespace of his own anybody can mount root's files there */
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(try(pid, true, uid, pid), -EPERM);
	assert_int_equal(try(pid, false, 0, pid), -EPERM);
	assert_int_equal(try(pid, true, 0, pid), 0);
}

/* To read /proc/kmsg is to empty it; all may read the other. */
static void not_what_the_kernel_makes_up(void **state)
{
	static const char *const files[] = { "/proc/kmsg", "/proc/kallsyms" };
	pid_t pid = new_child();

	make_map(pid);
	end_child(pid);
	for (int i = 0; i < 2; i++) {
		if (getuid() || unshare(CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(files[i], path, NULL, MS_BIND, NULL))
			skip();
		assert_int_equal(try(pid, true, 0, pid), -EPERM);
		assert_int_equal(umount(path), 0);
	}
}

/* What was kept does not matter then. */
static void of_one_that_lives(void **state)
{
	pid_t pid = new_child();
	uid_t uid = make_map(pid);
	struct owner now = open_owner(pid);

	assert_true(now.known);
	assert_int_equal(now.uid, getuid());
	assert_int_equal(try(pid, true, uid, pid), uid == getuid() ? 0 : -EPERM);
	end_child(pid);
	assert_false(open_owner(pid).known);
}

/* ---- files that are mapped ---- */

#define NAME "/tmp/test_open.XXXXXX"

static char mapped[sizeof(NAME)], other[sizeof(NAME)];

static int make_files(void **state)
{
	int a = mkstemp(strcpy(mapped, NAME)), b = mkstemp(strcpy(other, NAME));

	return a < 0 || b < 0 || close(a) || close(b);
}

static int remove_files(void **state)
{
	return unlink(mapped) || unlink(other);
}

static int try_file(const struct stat *st, const char *at_path, const struct mapping *map)
{
	AUTO_CLOSE int fd = -1;

	return open_mapped(getpid(), map,
			   &(struct module){ .kind = MODULE_FILE,
					     .path = at_path,
					     .maj = major(st->st_dev),
					     .min = minor(st->st_dev),
					     .ino = st->st_ino },
			   &fd);
}

/* By its path alone, since nothing of ours is mapped there. */
static int try_mapped(const char *file, const char *at_path)
{
	const struct mapping map = { .start = 0x1000, .end = 0x2000 };
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return try_file(&st, at_path, &map);
}

static void not_another_at_its_path(void **state)
{
	assert_int_equal(try_mapped(mapped, mapped), 0);
	assert_int_equal(try_mapped(mapped, other), -ENOENT);
	assert_int_equal(try_mapped("/tmp", "/tmp"), -ENOENT);
	assert_int_equal(unlink(mapped), 0);
	assert_int_equal(symlink(other, mapped), 0);
	assert_int_equal(try_mapped(other, mapped), 0);
}

/* As a loader maps a library: all of it for its code, then its data over the end. The
 * first is what is told of; and a file that is deleted is found by its mapping alone. */
static void what_its_mapping_is_now(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	AUTO_CLOSE int file = open(mapped, O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int another = open(other, O_RDWR | O_CLOEXEC);
	struct mapping told;
	struct stat st;
	char *at;

	if (getuid()) /* map_files leads nobody else to a file */
		skip();
	assert_int_equal(ftruncate(file, 3 * (off_t)page), 0);
	assert_int_equal(ftruncate(another, (off_t)page), 0);
	assert_int_equal(fstat(file, &st), 0);
	at = mmap(NULL, 3 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	assert_true(at != MAP_FAILED);
	told = (struct mapping){
		.start = (uintptr_t)at,
		.end = (uintptr_t)at + 3 * page,
	};
	assert_int_equal(try_file(&st, "/gone", &told), 0);
	assert_ptr_equal(mmap(at + page, page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_FIXED, file, (off_t)page),
			 at + page);
	assert_int_equal(try_file(&st, "/gone", &told), 0);
	told.start += page;
	assert_int_equal(try_file(&st, "/gone", &told), -ENOENT); /* no code */
	told.start -= page;
	assert_ptr_equal(mmap(at, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			      another, 0),
			 at);
	assert_int_equal(try_file(&st, "/gone", &told), -ENOENT);
	assert_int_equal(munmap(at, 3 * page), 0);
	assert_int_equal(try_file(&st, "/gone", &told), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(of_one_that_has_ended, remove_map),
		cmocka_unit_test_teardown(of_one_that_lives, remove_map),
		cmocka_unit_test_teardown(not_what_the_kernel_makes_up, remove_map),
		cmocka_unit_test_setup_teardown(not_another_at_its_path, make_files,
						remove_files),
		cmocka_unit_test_setup_teardown(what_its_mapping_is_now, make_files,
						remove_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
