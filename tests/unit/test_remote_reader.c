/* SPDX-License-Identifier: BSD-2-Clause */
/* Who reads others' memory for us leaves nothing behind, however long its end takes. */
#include "worker/remote_reader.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define A_WHILE_NS (20 * SECOND_NS)

static uint32_t words[] = { 17, 4 };

static bool reads(struct remote_reader *reader)
{
	const uint64_t addrs[] = { (uintptr_t)&words[0], 8, (uintptr_t)&words[1] };
	uint32_t got[] = { 1, 2, 3 };

	if (!remote_reader_read(reader, getpid(), addrs, 3, got))
		return false;
	assert_int_equal(got[0], 17);
	assert_int_equal(got[1], 2); /* nothing is there */
	assert_int_equal(got[2], 4);
	return true;
}

/* A child of ours that takes as long as we want. */
static pid_t new_child(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	while (!child)
		pause();
	return child;
}

/* It is not asked for its status. */
static void end_child(pid_t child)
{
	siginfo_t info;

	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void expect_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static void who_ended_later_is_reaped(void **state)
{
	struct remote_reader reader = { .n_left = 2,
					.left = { new_child(), new_child() } };

	assert_true(reads(&reader));
	assert_true(reader.n_left >= 2);
	end_child(reader.left[0]);
	assert_true(reads(&reader));
	end_child(reader.left[0]);
	while (reader.n_left) /* on a busy machine those of the reads, too */
		reads(&reader);
	expect_no_children();
}

static void of_too_many_none_is_added(void **state)
{
	struct remote_reader reader = { .n_left = REMOTE_READER_LEFT_MAX };

	for (int i = 0; i < REMOTE_READER_LEFT_MAX; i++)
		reader.left[i] = new_child();
	assert_false(reads(&reader));
	for (int i = 0; i < REMOTE_READER_LEFT_MAX; i++)
		end_child(reader.left[i]);
	assert_true(reads(&reader));
	while (reader.n_left)
		reads(&reader);
	expect_no_children();
}

/* A page that nobody provides; NULL: this machine has none of that. */
static void *page_that_waits(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	range.range = (struct uffdio_range){ (uintptr_t)page, 4096 };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		return NULL;
	return page;
}

/* One process must not keep weft from reading all others for good, nor a busy machine. */
static void who_was_late_is_forgotten(void **state)
{
	const uint64_t addr = (uintptr_t)page_that_waits();
	struct remote_reader reader = { 0 };
	uint32_t got;
	int n = 0;

	if (!addr)
		skip();
	while (reader.full_ns <= clock_now_ns() + 2 * A_WHILE_NS) {
		assert_false(remote_reader_read(&reader, getpid(), &addr, 1, &got));
		assert_true(++n <= 3);
	}
	assert_int_equal(n, 3);
	assert_false(reads(&reader));
	do /* a while later; a busy machine may be late then */
		reader.full_ns -= A_WHILE_NS;
	while (!reads(&reader) && n++ < 20);
	assert_true(n < 20);
	reader.full_ns = 0;
	while (reader.n_left)
		reads(&reader);
	expect_no_children();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ended_later_is_reaped),
		cmocka_unit_test(of_too_many_none_is_added),
		cmocka_unit_test(who_was_late_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
