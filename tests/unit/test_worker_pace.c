/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parser that takes more than its share of CPU time goes behind others: its files'
 * makers, not we, choose what they cost.
 */
#include "base/clock.h"
#include "worker/worker_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define MS 1000000ULL

static pid_t new_burner(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned long n = 0;; n++)
			;
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int nice_of(pid_t pid)
{
	return getpriority(PRIO_PROCESS, (id_t)pid);
}

/* Until the account is empty, into which 1 ms comes for each 20. */
static void empty(struct pace *pace)
{
	for (int i = 0; i < 3000 && !pace->is_slow; i++) {
		usleep(50000);
		pace_keep(pace, pace->looked_ms + 20);
	}
	assert_true(pace->is_slow);
}

static void goes_behind_others_and_comes_back(void **state)
{
	struct pace pace;
	pid_t burner = new_burner(), next;

	pace_begin(&pace, 0);
	pace_take(&pace, burner);
	assert_int_equal(nice_of(burner), pace.usual);
	pace.balance_ns = 30000000;
	empty(&pace);
	assert_int_equal(nice_of(burner), pace.slow);
	assert_true(pace.slow >= pace.usual);
	/* nobody who waits for names is slowed down */
	if (!geteuid()) {
		pace_hurry(&pace, true);
		pace_keep(&pace, pace.looked_ms + 20);
		assert_int_equal(nice_of(burner), pace.usual);
		pace_hurry(&pace, false);
		empty(&pace);
	}
	/* a parser that is started anew is on the same account */
	next = new_burner();
	pace_take(&pace, next);
	assert_int_equal(nice_of(next), pace.slow);
	kill(next, SIGSTOP);
	if (!geteuid()) { /* it takes a privilege */
		pace_keep(&pace, pace.looked_ms + 60000);
		assert_false(pace.is_slow);
		assert_int_equal(nice_of(next), pace.usual);
	}
	end(next);
	end(burner);
}

/* What it took until it was ended counts, and then its number is nobody's. */
static void a_parser_that_goes_is_charged(void **state)
{
	struct pace pace;
	pid_t burner = new_burner();
	int64_t before;

	pace_begin(&pace, 0);
	pace_take(&pace, burner);
	usleep(100000);
	pace_keep(&pace, 20);
	before = pace.balance_ns;
	usleep(300000);
	pace_leave(&pace, 21);
	assert_true(pace.balance_ns < before);
	assert_int_equal(pace.parser, 0);
	before = pace.balance_ns;
	pace_keep(&pace, 10000);
	assert_int_equal(pace.balance_ns, before);
	end(burner);
}

/* The worker has one that is filled, and hands its parser to it. */
static void a_worker_keeps_it(void **state)
{
	AUTO(worker) worker = NULL;
	pid_t first;

	assert_int_equal(worker_new(&worker), 0);
	first = worker->pace.parser;
	assert_int_equal(kill(first, 0), 0);
	assert_true(worker->pace.balance_ns > 0);
	worker->pace.balance_ns = -1000000000;
	worker->pace.looked_ms -= 20;
	worker_pump(worker, true);
	assert_int_equal(nice_of(first), worker->pace.slow);
	assert_int_equal(worker_restart(worker), 0);
	assert_int_not_equal(worker->pace.parser, first);
	assert_int_equal(nice_of(worker->pace.parser), worker->pace.slow);
}

/* Whose budget is used up is behind others, and takes nothing of their account. */
static void behind_is_on_nobodys_account(void **state)
{
	struct pace pace;
	pid_t burner = new_burner();
	int64_t before;

	pace_begin(&pace, 0);
	pace_take(&pace, burner);
	pace.balance_ns = 30000000;
	pace_go_behind(&pace, true, 20);
	assert_int_equal(nice_of(burner), pace.slow);
	before = pace.balance_ns;
	usleep(200000);
	pace_keep(&pace, 40);
	assert_true(pace.balance_ns >= before);
	assert_int_equal(nice_of(burner), pace.slow);
	/* no more than a 20th of the 60 ms that the clock went on */
	assert_in_range(pace.balance_ns, before, before + 3000000);
	if (!geteuid()) {
		pace_hurry(&pace, true);
		assert_int_equal(nice_of(burner), pace.usual);
		pace_hurry(&pace, false);
		assert_int_equal(nice_of(burner), pace.slow);
		pace_go_behind(&pace, false, 60);
		assert_int_equal(nice_of(burner), pace.usual);
	}
	pace_go_behind(&pace, false, 60);
	empty(&pace);
	end(burner);
}

static bool odd_is_behind(void *arg, uint64_t cookie)
{
	return cookie & 1;
}

static struct done {
	size_t n;
	int errs[4];
} done;

static void on_scanned(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	assert_in_range(cookie, 0, 3);
	done.errs[cookie] = err;
	done.n++;
}

static void submit(struct worker *worker, uint64_t cookie)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(worker_submit_scan(worker, fd, cookie), 0);
}

/* Alone it may take as long as anybody's; then it makes others wait. */
static void who_is_behind_makes_nobody_wait(void **state)
{
	const struct table_sink sink = { .is_behind = odd_is_behind };
	AUTO(worker) worker = NULL;

	assert_int_equal(worker_new(&worker), 0);
	worker_set_table_sink(worker, &sink);
	submit(worker, 0);
	assert_int_equal(worker_collect(worker, 10000, on_scanned, NULL), 0);
	assert_false(worker->pace.is_slow);
	kill(worker->pace.parser, SIGSTOP);
	submit(worker, 1);
	assert_true(worker->pace.is_slow);
	assert_int_equal(worker_collect(worker, 700, on_scanned, NULL), 1);
	submit(worker, 2);
	assert_int_equal(worker_collect(worker, 20000, on_scanned, NULL), 0);
	assert_int_equal(done.n, 3);
	assert_int_equal(done.errs[0], 0);
	assert_int_equal(done.errs[1], -ETIMEDOUT);
	assert_int_equal(done.errs[2], 0);
	assert_int_equal(worker->late_ms, 0); /* what others may be late is theirs */
	assert_false(worker->pace.is_slow);
}

/* Nobody waits for what is under way any more; the parser is as good as new. */
static void dropped_scans_hold_up_nobody(void **state)
{
	AUTO(worker) worker = NULL;

	done.n = 0;
	assert_int_equal(worker_new(&worker), 0);
	kill(worker->pace.parser, SIGSTOP);
	for (uint64_t cookie = 0; cookie < 3; cookie++)
		submit(worker, cookie);
	assert_int_equal(worker_collect(worker, 0, on_scanned, NULL), 3);
	worker_drop_scans(worker);
	assert_int_equal(worker_collect(worker, 0, on_scanned, NULL), 0);
	assert_int_equal(done.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(done.errs[i], -ECANCELED);
	assert_int_equal(worker_counts(worker)->failed, 0);
	submit(worker, 3);
	assert_int_equal(worker_collect(worker, 20000, on_scanned, NULL), 0);
	assert_int_equal(done.errs[3], 0);
}

/* Two on one CPU: each waits for it for as long as the other one runs. */
static void share_a_cpu(pid_t a, pid_t b)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(a, sizeof(one), &one), 0);
	assert_int_equal(sched_setaffinity(b, sizeof(one), &one), 0);
}

/* Of who runs, what it ran; of who does not want to, what passed. */
static void who_waits_for_a_cpu_takes_no_time(void **state)
{
	/* before it waits for the first time */
	const uint64_t begun_ns = clock_now_ns();
	struct worker_time time = worker_time_begin(new_burner());
	const pid_t other = new_burner();
	uint64_t queued_ns;

	share_a_cpu(time.pid, other);
	worker_time_ns(&time);
	queued_ns = time.sched.queued_ns;
	/* until it has run, and has waited, however busy the machine is */
	while (time.taken_ns < 100 * MS || time.sched.queued_ns - queued_ns < 100 * MS)
		worker_time_ns(&time);
	/* the kernel tells of either a tick late, so half of what it waited */
	assert_in_range(time.taken_ns, 1,
			time.looked_ns - begun_ns -
				(time.sched.queued_ns - queued_ns) / 2);
	kill(time.pid, SIGSTOP);
	assert_int_equal(waitpid(time.pid, NULL, WUNTRACED), time.pid);
	time = worker_time_begin(time.pid);
	for (uint64_t ms = 50; ms <= 100; ms += 50) { /* before a look, and between two */
		usleep(50000);
		assert_true(worker_time_ns(&time) >= ms * MS);
	}
	end(other);
	end(time.pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_behind_others_and_comes_back),
		cmocka_unit_test(a_parser_that_goes_is_charged),
		cmocka_unit_test(a_worker_keeps_it),
		cmocka_unit_test(behind_is_on_nobodys_account),
		cmocka_unit_test(who_is_behind_makes_nobody_wait),
		cmocka_unit_test(dropped_scans_hold_up_nobody),
		cmocka_unit_test(who_waits_for_a_cpu_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
