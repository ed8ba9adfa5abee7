/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans on a busy machine: a file's deadline goes by what its parser took. */
#include "base/error.h"
#include "worker/worker_parts.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void scan_done(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
}

static int table_err;

static void on_table(void *arg, uint64_t cookie, int err,
		     const struct table_answer *answer)
{
	table_err = err;
}

/* How long it takes to make slow.so's table. */
static int make_table(struct worker *worker)
{
	int64_t begun_ms = worker_now_ms();

	table_err = 1;
	assert_int_equal(worker_submit_table(worker, open_file("slow.so"), 0), 0);
	assert_int_equal(worker_collect(worker, 60000, scan_done, NULL), 0);
	return (int)(worker_now_ms() - begun_ms);
}

static pid_t new_burner(const cpu_set_t *cpus)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned long n = 0;; n++)
			;
	}
	assert_true(pid > 0);
	assert_int_equal(sched_setaffinity(pid, sizeof(*cpus), cpus), 0);
	return pid;
}

/* One of eight on a CPU takes eight times as long for a file, and is not to blame. */
static void a_scan_that_waits_for_a_cpu_is_not_late(void **state)
{
	enum { OTHERS = 7 };
	static const char source[] =
		".text; .rept 100000; push %rbp; mov %rsp, %rbp; test %eax, %eax;"
		"jz 1f; call *%rax; 1: pop %rbp; ret; .p2align 4; .endr\n";
	struct worker *worker;
	pid_t others[OTHERS];
	cpu_set_t one;
	int ms;

	if (shell("gcc -dumpmachine | grep -q x86_64"))
		skip();
	write_file("slow.s", source, strlen(source));
	assert_int_equal(shell("gcc -shared -nostdlib slow.s -o slow.so"), 0);
	assert_int_equal(worker_new(&worker), 0);
	worker_set_table_sink(worker, &(struct table_sink){ .done = on_table });
	worker->scan_deadline_ms = 60000;
	ms = make_table(worker);
	assert_int_equal(table_err, 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (int i = 0; i < OTHERS; i++)
		others[i] = new_burner(&one);
	assert_int_equal(sched_setaffinity(worker->pace.parser, sizeof(one), &one), 0);
	worker->scan_deadline_ms = 4 * ms;
	make_table(worker);
	assert_int_equal(table_err, 0);
	assert_int_equal(worker_counts(worker)->restarts, 0);
	for (int i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		assert_int_equal(waitpid(others[i], NULL, 0), others[i]);
	}
	worker_free(worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_that_waits_for_a_cpu_is_not_late),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
