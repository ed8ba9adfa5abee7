// SPDX-License-Identifier: BSD-2-Clause
/* Who a process is, as /proc says it: of one that runs, and of one that has ended and
 * was not reaped, whose stack is as little to be seen as that of one that hides it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "proc/scan_all.h"

static void who_runs_has_a_stack(void **state)
{
	struct identity identity[2];

	assert_int_equal(scan_identity(NULL, getpid(), NULL, 0, identity), 0);
	for (int i = 0; i < 2; i++)
		assert_true(identity[i].start_ticks && identity[i].start_stack > 1);
}

static void who_was_not_reaped_is_gone(void **state)
{
	struct identity identity[2];
	siginfo_t info;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(scan_identity(NULL, child, NULL, 0, identity), -ESRCH);
	error_clear();
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(scan_identity(NULL, child, NULL, 0, identity), -ESRCH);
	error_clear();
}

#define PF_KTHREAD 0x200000 /* linux/sched.h */

static pid_t find_kernel_thread(void)
{
	for (pid_t pid = 2; pid < 300; pid++) {
		struct task_stat stat;

		if (task_stat_read(pid, &stat) && stat.flags & PF_KTHREAD)
			return pid;
	}
	return 0;
}

static void who_has_no_memory_is_not_asked(void **state)
{
	pid_t kernel_thread = find_kernel_thread(), child = fork();
	siginfo_t info;

	if (!child)
		_exit(0);
	assert_true(child > 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_false(open_user(child).has_memory);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(open_user(child).has_memory); /* it can't be told */
	assert_true(open_user(getpid()).has_memory);
	if (kernel_thread)
		assert_false(open_user(kernel_thread).has_memory);
}

/* Where our own code lies, which is in this file. */
static struct map_place own_place(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	return (struct map_place){ (uint64_t)(uintptr_t)own_place, st.st_ino };
}

static bool is_mapped(struct opener *opener, pid_t tgid, const struct map_place *places,
		      unsigned int n)
{
	struct identity identity[2];
	int err = scan_identity(opener, tgid, places, n, identity);

	error_clear();
	return !err;
}

static void check_mapped(struct opener *opener)
{
	static int data;
	const struct map_place own = own_place();
	const struct map_place both[] = { own, own };
	const struct map_place other[] = { own, { own.addr, own.ino + 1 } };
	const struct map_place no_code[] = { own,
					     { (uint64_t)(uintptr_t)&data, own.ino } };
	const struct map_place nowhere[] = { own, { 0x1000, own.ino } };

	assert_true(is_mapped(opener, getpid(), both, 2));
	assert_false(is_mapped(opener, getpid(), other, 2));
	assert_false(is_mapped(opener, getpid(), no_code, 2));
	assert_false(is_mapped(opener, getpid(), nowhere, 2));
}

static void what_is_mapped_is_seen(void **state)
{
	AUTO(opener) opener = NULL;

	check_mapped(NULL);
	assert_int_equal(opener_new(&opener), 0);
	check_mapped(opener);
	assert_int_equal(opener_counts(opener).held, 0);
}

/* The kernel is asked, or if it can't be, all of it read. */
static void both_ways_agree(void **state)
{
	const struct map_place own = own_place();
	const struct map_place other = { own.addr, own.ino + 1 };
	struct task_stat stats[2];
	int err = map_query(getpid(), &own, 1, stats);

	error_clear();
	if (err == -EOPNOTSUPP)
		skip();
	assert_int_equal(err, 0);
	assert_int_equal(map_query(getpid(), &other, 1, stats), -ESTALE);
	error_clear();
}

static void *stay(void *arg)
{
	char c;

	(void)!write(*(int *)arg, "x", 1);
	(void)!read(((int *)arg)[1], &c, 1);
	return NULL;
}

/* /proc/PID/maps is empty then, and those of its threads are not. */
static void threads_map_what_their_process_does(void **state)
{
	const struct map_place own = own_place(), other = { own.addr, own.ino + 1 };
	int told[2], kept[2], ends[2];
	uint64_t start;
	pthread_t thread;
	char c;
	pid_t child;

	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(kept), 0);
	ends[0] = told[1];
	ends[1] = kept[0];
	child = fork();
	if (!child) {
		close(kept[1]);
		if (pthread_create(&thread, NULL, stay, ends))
			_exit(1);
		syscall(SYS_exit, 0); /* the first thread alone */
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	while (scan_is_alive(NULL, child, false, &start))
		usleep(1000);
	assert_true(open_user(child).has_memory);
	assert_true(is_mapped(NULL, child, &own, 1));
	assert_false(is_mapped(NULL, child, &other, 1));
	close(kept[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(is_mapped(NULL, child, &own, 1));
}

/* What a scan tells, taken up by who is to know. */
struct heard {
	struct module_table *modules;
	struct process_table *table;
	unsigned int execs;
	bool no_exec; /* they are lost */
};

static int hear(void *arg, const void *record, size_t bytes)
{
	struct heard *heard = arg;
	struct side_event event;

	assert_int_equal(side_event_read(&event, record, bytes), 0);
	if (event.kind == SIDE_EXEC && heard->no_exec)
		return 0;
	heard->execs += event.kind == SIDE_EXEC;
	return process_apply(heard->table, &event);
}

static void tell_fork(struct heard *heard, pid_t parent, pid_t child)
{
	const struct side_event fork = {
		.kind = SIDE_FORK,
		.pid = (uint32_t)child,
		.ppid = (uint32_t)parent,
		.time_ns = clock_now_ns(),
	};

	assert_int_equal(process_apply(heard->table, &fork), 0);
}

static bool all_is_mapped(const struct heard *heard, pid_t tgid)
{
	const struct process *process = process_get(heard->table, (uint32_t)tgid);
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++) {
		const struct module *module = module_get(heard->modules, maps[i].module);
		const struct map_place place = { maps[i].start, module->ino };

		if (module->kind == MODULE_FILE && module->ino &&
		    !is_mapped(NULL, tgid, &place, 1))
			return false;
	}
	return n > 0;
}

/* A child that has become another program by now, and runs: its libraries are there. */
static pid_t start_cat(void)
{
	int in[2], out[2];
	pid_t child;
	char c = 'x';

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* no test leaves it behind */
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	assert_true(child > 0);
	close(in[0]);
	close(out[1]);
	assert_int_equal(write(in[1], &c, 1), 1); /* it stays open: cat goes on */
	assert_int_equal(read(out[0], &c, 1), 1);
	close(out[0]);
	return child;
}

/* A child whose exec was lost is known with what its parent maps. What a tick finds
 * nowhere is read again: then all that is known is its own, whatever was read before. */
static void who_became_another_is_another(void **state)
{
	struct heard heard = { 0 };
	const struct event_sink sink = { &heard, NULL, hear };
	const pid_t child = start_cat();

	assert_int_equal(module_table_new(&heard.modules), 0);
	assert_int_equal(process_table_new(&heard.table, heard.modules, NULL), 0);
	assert_int_equal(scan_process(NULL, getpid(), clock_now_ns(), &sink), 0);
	tell_fork(&heard, getpid(), child);
	assert_false(all_is_mapped(&heard, child));
	assert_int_equal(scan_again(NULL, heard.table, child, &sink), 0);
	assert_int_equal(heard.execs, 2);
	assert_true(all_is_mapped(&heard, child));

	/* it is known now, and goes on */
	assert_int_equal(scan_again(NULL, heard.table, child, &sink), 0);
	assert_int_equal(heard.execs, 2);

	/* new mappings among old ones: the exec alone was lost */
	tell_fork(&heard, getpid(), child);
	heard.no_exec = true;
	assert_int_equal(scan_process(NULL, child, clock_now_ns(), &sink), 0);
	heard.no_exec = false;
	assert_false(all_is_mapped(&heard, child));
	assert_int_equal(scan_again(NULL, heard.table, child, &sink), 0);
	assert_int_equal(heard.execs, 3);
	assert_true(all_is_mapped(&heard, child));

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	process_table_free(heard.table);
	module_table_free(heard.modules);
}

/* A child of this user with so many mappings of code; none is next to another. */
static pid_t start_mapping(uid_t uid, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int told[2];
	pid_t child;
	char *at, c;

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		at = mmap(NULL, 2 * n * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
		for (size_t i = 0; i < n; i++)
			if (mprotect(at + 2 * i * page, page, PROT_READ | PROT_EXEC))
				_exit(1);
		if (setuid(uid))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* which that takes away */
		(void)!write(told[1], "x", 1);
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(read(told[0], &c, 1), 1);
	close(told[0]);
	close(told[1]);
	return child;
}

static size_t n_known(const struct heard *heard, pid_t tgid)
{
	const struct process *process = process_get(heard->table, (uint32_t)tgid);
	size_t n;

	assert_non_null(process);
	process_mappings(process, &n);
	return n;
}

/* 30,000 mappings are 0.1 s of whoever waits, and nobody waits for those of many: of
 * the rest it is known that they are there. Others' are read all the same. */
static void who_maps_much_is_read_by_turns(void **state)
{
	enum { MANY = 6, MUCH = 30000, OTHERS = 500 };
	struct heard heard = { 0 };
	const struct event_sink sink = { &heard, NULL, hear };
	struct scan_queue later = { 0 };
	pid_t children[MANY + 1];
	size_t n_read = 0;

	if (getuid())
		skip();
	for (int i = 0; i < MANY; i++)
		children[i] = start_mapping(65533, MUCH);
	children[MANY] = start_mapping(65532, OTHERS);
	assert_int_equal(module_table_new(&heard.modules), 0);
	assert_int_equal(process_table_new(&heard.table, heard.modules, NULL), 0);
	assert_int_equal(scan_all(NULL, NULL, &sink, UINT64_MAX, &later), 0);
	assert_int_equal(later.n, 0);

	for (int i = 0; i < MANY; i++) {
		size_t n = n_known(&heard, children[i]);

		assert_true(n == 0 || n >= MUCH);
		n_read += n > 0;
	}
	assert_in_range(n_read, 1, MANY - 1);
	assert_true(n_known(&heard, children[MANY]) >= OTHERS);
	assert_int_equal(scan_again(NULL, heard.table, children[MANY - 1], &sink), 0);
	assert_true(n_known(&heard, children[MANY - 1]) >= MUCH);

	for (int i = 0; i <= MANY; i++) {
		kill(children[i], SIGKILL);
		assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
	}
	process_table_free(heard.table);
	module_table_free(heard.modules);
}

/* If there is no time for others' processes, root's are read all the same, and those of
 * others are listed; but for one that is known, of which nothing is forgotten. */
static void who_is_no_root_may_have_to_wait(void **state)
{
	struct heard heard = { 0 };
	const struct event_sink sink = { &heard, NULL, hear };
	struct scan_queue later = { 0 };
	pid_t known, other;
	size_t n_known_before;
	int n_listed = 0;

	if (getuid())
		skip();
	known = start_mapping(65533, 1);
	other = start_mapping(65533, 1);
	assert_int_equal(module_table_new(&heard.modules), 0);
	assert_int_equal(process_table_new(&heard.table, heard.modules, NULL), 0);
	assert_int_equal(scan_process(NULL, known, clock_now_ns(), &sink), 0);
	n_known_before = n_known(&heard, known);
	assert_true(n_known_before > 0);

	assert_int_equal(scan_all(NULL, heard.table, &sink, 0, &later), 0);
	assert_true(n_known(&heard, getpid()) > 0);
	assert_int_equal(n_known(&heard, known), n_known_before);
	assert_int_equal(n_known(&heard, other), 0);
	for (size_t i = 0; i < later.n; i++) {
		assert_int_not_equal(later.items[i], getpid());
		n_listed += (pid_t)later.items[i] == known;
		n_listed += (pid_t)later.items[i] == other;
	}
	assert_int_equal(n_listed, 2);

	kill(known, SIGKILL);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(known, NULL, 0), known);
	assert_int_equal(waitpid(other, NULL, 0), other);
	vec_free(&later);
	process_table_free(heard.table);
	module_table_free(heard.modules);
}

/* Code in a file without a name that is mapped shared is generated: /proc tells it as
 * records do (test_process.c). A privately mapped one may be a program's. */
static void what_is_written_beside_is_generated(void **state)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct heard heard = { 0 };
	const struct event_sink sink = { &heard, NULL, hear };
	const int kinds[] = { MAP_SHARED, MAP_PRIVATE };
	const struct process *process;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *at[2];

	if (fd < 0)
		skip();
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	for (int i = 0; i < 2; i++) {
		at[i] = mmap(NULL, bytes, PROT_READ | PROT_EXEC, kinds[i], fd, 0);
		assert_ptr_not_equal(at[i], MAP_FAILED);
	}
	close(fd);
	assert_int_equal(module_table_new(&heard.modules), 0);
	assert_int_equal(process_table_new(&heard.table, heard.modules, NULL), 0);
	assert_int_equal(scan_process(NULL, getpid(), clock_now_ns(), &sink), 0);
	process = process_get(heard.table, (uint32_t)getpid());
	assert_non_null(process);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(process_mapping(process, (uintptr_t)at[i])->is_jit, !i);
		munmap(at[i], bytes);
	}
	process_table_free(heard.table);
	module_table_free(heard.modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_runs_has_a_stack),
		cmocka_unit_test(who_was_not_reaped_is_gone),
		cmocka_unit_test(who_has_no_memory_is_not_asked),
		cmocka_unit_test(what_is_mapped_is_seen),
		cmocka_unit_test(both_ways_agree),
		cmocka_unit_test(threads_map_what_their_process_does),
		cmocka_unit_test(who_became_another_is_another),
		cmocka_unit_test(who_maps_much_is_read_by_turns),
		cmocka_unit_test(who_is_no_root_may_have_to_wait),
		cmocka_unit_test(what_is_written_beside_is_generated),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
