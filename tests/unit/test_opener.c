// SPDX-License-Identifier: BSD-2-Clause
/* The process that opens files for us: what it hands over, whom it takes for one who
 * holds us up, and whom not; and that it may end at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "child.h"
#include "proc/held.h"
#include "proc/maps_text.h"
#include "proc/open_copy.h"
#include "proc/opener.h"
#include "proc/opener_barred.h"

#define MS 1000000ULL
#define S  (1000 * MS)

static pid_t pid_of(const char *command)
{
	char line[256];
	FILE *f = popen(command, "r");
	pid_t pid = 0;

	assert_non_null(f);
	if (fgets(line, sizeof(line), f))
		pid = (pid_t)atoi(line);
	pclose(f);
	return pid;
}

static pid_t supervisor_pid(void)
{
	return pid_of("pgrep -x -P $PPID weft-openers");
}

/* The opener: the one child of our one child that has this name. */
static pid_t opener_pid(void)
{
	return pid_of("pgrep -P \"$(pgrep -x -P $PPID weft-openers)\" -x weft-opener");
}

static void has_our_maps(struct opener *opener)
{
	AUTO_STR text = { 0 };
	AUTO_STR own = { 0 };

	assert_int_equal(opener_maps(opener, getpid(), &text), 0);
	assert_non_null(strstr(text.s, "test_opener"));
	assert_int_equal(opener_maps(NULL, getpid(), &own), 0);
	assert_string_equal(text.s, own.s);
}

static void hands_over_what_proc_says(void **state)
{
	AUTO(opener) opener = NULL;

	assert_int_equal(opener_new(&opener), 0);
	has_our_maps(opener);
	assert_int_equal(opener_counts(opener).held, 0);
}

/* As a JIT may do: of more lines than an answer holds, and of each once. */
static void of_many_mappings_none_is_missing(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 2000;
	AUTO(opener) opener = NULL;
	AUTO_STR text = { 0 };
	AUTO_STR own = { 0 };
	size_t lines = 0;
	char *pages, *next;

	pages = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	assert_true(pages != MAP_FAILED);
	for (size_t i = 0; i < n; i += 2)
		assert_int_equal(mprotect(pages + i * page, page, PROT_READ | PROT_EXEC),
				 0);
	assert_int_equal(opener_new(&opener), 0);
	assert_int_equal(opener_maps(opener, getpid(), &text), 0);
	assert_int_equal(opener_maps(NULL, getpid(), &own), 0);
	assert_string_equal(text.s, own.s);
	for (next = text.s; maps_text_line(&next);)
		lines++;
	assert_true(lines > n / 2 && lines < n / 2 + 100);
	munmap(pages, n * page);
}

static void says_why_it_could_not(void **state)
{
	AUTO(opener) opener = NULL;
	const struct module module = { .kind = MODULE_FILE,
				       .path = "/no/such",
				       .ino = 1 };
	const struct mapping map = { .start = 0x1000, .end = 0x2000 };
	AUTO_CLOSE int fd = -1;

	assert_int_equal(opener_new(&opener), 0);
	assert_int_equal(opener_mapped(opener, getpid(), &map, &module, &fd), -ENOENT);
	assert_non_null(strstr(error_sentence(), "/no/such"));
	error_clear();
}

static uint32_t of_ours[] = { 17, 4 };

static void reads_words(void **state)
{
	const uint64_t addrs[] = { (uintptr_t)&of_ours[0], 8, (uintptr_t)&of_ours[1] };
	AUTO(opener) opener = NULL;

	assert_int_equal(opener_new(&opener), 0);
	for (int by = 0; by < 2; by++) {
		uint32_t got[] = { 1, 2, 3 };

		assert_int_equal(
			opener_words(by ? opener : NULL, getpid(), addrs, 3, got), 0);
		assert_int_equal(got[0], 17);
		assert_int_equal(got[1], 2); /* nothing is there */
		assert_int_equal(got[2], 4);
	}
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

static void nobody_waits_for_a_page(void **state)
{
	const uint64_t addr = (uintptr_t)page_that_waits();
	AUTO(opener) opener = NULL;
	uint32_t got = 5;

	if (!addr)
		skip();
	assert_int_equal(opener_new(&opener), 0);
	assert_int_equal(opener_words(opener, getpid(), &addr, 1, &got), -ETIMEDOUT);
	error_clear();
	assert_int_equal(got, 5);
	assert_int_equal(opener_counts(opener).held, 1);
	assert_int_equal(opener_words(opener, getpid(), &addr, 1, &got), -ETIMEDOUT);
	error_clear();
	assert_int_equal(opener_counts(opener).held, 1); /* not asked again at once */
	has_our_maps(opener);				 /* and loses nothing else */
}

/* It ends, and nothing of it is left. */
static void is_gone(pid_t pid)
{
	for (int i = 0; i < 3000 && !kill(pid, 0); i++)
		usleep(1000);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void may_end_at_any_time(void **state)
{
	AUTO(opener) opener = NULL;
	pid_t pid;

	assert_int_equal(opener_new(&opener), 0);
	pid = opener_pid();
	if (!pid)
		skip();
	kill(pid, SIGKILL);
	is_gone(pid);
	has_our_maps(opener);
	assert_true(opener_pid() != pid);
}

/* Stopped from now on, and after a while, which is shorter than weft waits for it, on its
 * way again: by a child that ends with 0 if it got a CPU in time for that. */
static pid_t stop_for_a_while(pid_t pid)
{
	const uint64_t while_ns = 1500 * MS, wait_ns = 5 * S;
	uint64_t begun = clock_now_ns();
	pid_t child;

	kill(pid, SIGSTOP);
	child = fork();
	if (child)
		return child;
	usleep(while_ns / 1000);
	kill(pid, SIGCONT);
	_exit(clock_now_ns() - begun > wait_ns - S);
}

/* As on a machine that has no time for it. false: nobody had, not even this test. */
static bool supervisor_that_is_late_stays(void)
{
	AUTO(opener) opener = NULL;
	pid_t pid, supervisor, child;
	int status;

	assert_int_equal(opener_new(&opener), 0);
	pid = opener_pid();
	supervisor = supervisor_pid();
	if (!pid || !supervisor)
		skip();
	kill(pid, SIGKILL);
	is_gone(pid);
	child = stop_for_a_while(supervisor);
	has_our_maps(opener);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		return false;
	assert_int_equal(supervisor_pid(), supervisor);
	return true;
}

static void a_supervisor_that_is_late_stays(void **state)
{
	bool tried = false;

	for (int i = 0; i < 10 && !tried; i++)
		tried = supervisor_that_is_late_stays();
	assert_true(tried);
}

/* The opener, which answers nothing any more; the test is skipped without one. */
static pid_t stopped_opener(pid_t child)
{
	pid_t pid = opener_pid();

	if (!pid) {
		end_child(child);
		skip();
	}
	kill(pid, SIGSTOP);
	return pid;
}

/* As if a file system did not answer it. */
static void one_that_stops_is_left(void **state)
{
	AUTO(opener) opener = NULL;
	pid_t pid, child = new_child();
	AUTO_STR text = { 0 };

	assert_int_equal(opener_new(&opener), 0);
	pid = stopped_opener(child);
	assert_int_equal(opener_maps(opener, child, &text), -ETIMEDOUT);
	assert_int_equal(opener_counts(opener).held, 1);
	error_clear();
	/* others are asked for, and it is not; what was left ends, and is gone */
	has_our_maps(opener);
	is_gone(pid);
	assert_int_equal(opener_maps(opener, child, &text), -ETIMEDOUT);
	assert_int_equal(opener_counts(opener).held, 1);
	assert_int_equal(opener_counts(opener).refused, 1);
	error_clear();
	end_child(child);
}

static pid_t busy_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	assert_true(pid > 0);
	return pid;
}

/* An ordinary user's in a namespace of its own, so that another opener is asked whose it
 * is. It wants a CPU until the opener that was left is gone. */
static pid_t child_busy_beside(const pid_t *left)
{
	char path[32];
	pid_t pid = fork();

	if (pid) {
		assert_true(pid > 0);
		return pid;
	}
	if (!setresuid(65534, 65534, 65534)) /* who is not root has it easier */
		unshare(CLONE_NEWUSER);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		snprintf(path, sizeof(path), "/proc/%d/stat",
			 __atomic_load_n(left, __ATOMIC_RELAXED));
		if (access(path, F_OK))
			usleep(1000);
	}
}

static unsigned int n_warnings;

static void count_warnings(enum log_kind kind, const char *line)
{
	n_warnings += kind == LOG_WARNING;
}

/* It holds its locks, perhaps, and gets no CPU to let go of them. When it is known whose
 * it is, it may have had it. */
static void who_lacks_a_cpu_is_asked_again(void **state)
{
	pid_t *left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = child_busy_beside(left);
	AUTO(opener) opener = NULL;
	AUTO_STR text = { 0 };

	assert_int_equal(opener_new(&opener), 0);
	log_set_sink(count_warnings);
	n_warnings = 0;
	__atomic_store_n(left, stopped_opener(child), __ATOMIC_RELAXED);
	assert_int_equal(opener_maps(opener, child, &text), -ETIMEDOUT);
	assert_int_equal(opener_maps(opener, child, &text), -ETIMEDOUT);
	assert_int_equal(opener_counts(opener).refused, 1);
	assert_int_equal(n_warnings, 0);
	log_set_sink(NULL);
	usleep(2100000);
	assert_int_equal(opener_maps(opener, child, &text), 0);
	error_clear();
	end_child(child);
	munmap(left, sizeof(*left));
}

/* However little of a CPU it gets. */
static void who_runs_is_not_held(void **state)
{
	struct held idle = { .pid = new_child() }, busy = { .pid = busy_child() };

	held_ns(&idle);
	held_ns(&busy);
	for (int i = 0; i < 10; i++) {
		usleep(20000);
		held_ns(&idle);
		held_ns(&busy);
	}
	assert_true(held_ns(&idle) >= 100 * MS);
	assert_true(held_ns(&busy) < 100 * MS);
	end_child(idle.pid);
	end_child(busy.pid);
}

static void who_holds_us_twice_is_barred_for_life(void **state)
{
	const struct owner he = { .known = true, .uid = 1000, .payer = 1000 };
	struct barred barred = { 0 };
	pid_t pid = new_child(), slow = new_child();

	assert_int_equal(barred_add(&barred, pid, false, &he, 1 * S), BARRED_A_WHILE);
	assert_true(barred_process(&barred, pid, 2 * S));
	assert_false(barred_process(&barred, pid, 3 * S));
	assert_int_equal(barred_add(&barred, pid, false, &he, 100 * S), BARRED_FOR_LIFE);
	assert_true(barred_process(&barred, pid, 1000 * S));
	/* who lacks a CPU is not, however often */
	for (uint64_t at = 200; at < 210; at += 3) {
		barred_add(&barred, slow, true, &he, at * S);
		assert_true(barred_process(&barred, slow, (at + 1) * S));
		assert_false(barred_process(&barred, slow, (at + 2) * S));
	}
	end_child(slow);
	end_child(pid);
	/* who has its number now is another */
	assert_false(barred_process(&barred, pid, 1000 * S));
	barred_free(&barred);
}

static void who_held_us_is_barred_and_his_user_later(void **state)
{
	const struct owner he = { .known = true, .uid = 1000, .payer = 1000 };
	struct barred barred = { 0 };
	pid_t pids[3];

	for (int i = 0; i < 3; i++)
		pids[i] = new_child();
	assert_int_equal(barred_add(&barred, pids[0], false, &he, 1 * S), BARRED_A_WHILE);
	assert_false(barred_process(&barred, pids[1], 1 * S) ||
		     barred_owner(&barred, &he, 1 * S));
	assert_int_equal(barred_add(&barred, pids[1], true, &he, 1 * S), BARRED_AGAIN);
	assert_false(barred_owner(&barred, &he, 1 * S));
	assert_int_equal(barred_add(&barred, pids[2], false, &he, 1 * S), BARRED_AGAIN);
	assert_true(barred_owner(&barred, &he, 1 * S));
	/* he is forgiven */
	assert_false(barred_owner(&barred, &he, 22 * S));
	/* and accused once in a while */
	assert_int_equal(barred_add(&barred, pids[0], false, &he, 22 * S),
			 BARRED_FOR_LIFE);
	assert_int_equal(barred_add(&barred, pids[2], false, &he, 22 * S), BARRED_AGAIN);
	for (int i = 0; i < 3; i++)
		end_child(pids[i]);
	barred_free(&barred);
}

static void a_copy_is_sealed(void **state)
{
	AUTO_CLOSE int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int to = -1;

	assert_true(open_can_wait(from, getpid()));
	assert_int_equal(open_copy(from, UINT64_MAX, &to), 0);
	assert_true(open_is_copy(to));
	assert_false(open_is_copy(file));
	assert_int_equal(write(to, "x", 1), -1);
	assert_int_equal(errno, EPERM);
	close(GIVE_FD(to));
	assert_int_equal(open_copy(file, 1, &to), -ETIMEDOUT);
	error_clear();
}

/* As all have them who record (base/signals.c), and as their supervisors inherit it. */
static void block_ends(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_over_what_proc_says),
		cmocka_unit_test(of_many_mappings_none_is_missing),
		cmocka_unit_test(says_why_it_could_not),
		cmocka_unit_test(reads_words),
		cmocka_unit_test(nobody_waits_for_a_page),
		cmocka_unit_test(may_end_at_any_time),
		cmocka_unit_test(a_supervisor_that_is_late_stays),
		cmocka_unit_test(one_that_stops_is_left),
		cmocka_unit_test(who_lacks_a_cpu_is_asked_again),
		cmocka_unit_test(who_runs_is_not_held),
		cmocka_unit_test(who_holds_us_twice_is_barred_for_life),
		cmocka_unit_test(who_held_us_is_barred_and_his_user_later),
		cmocka_unit_test(a_copy_is_sealed),
	};

	block_ends();
	return cmocka_run_group_tests_name("opener", tests, NULL, NULL);
}
