/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two workers: what a large file takes, no small one waits for.
 */
#include "base/signals.h"
#include "publish/collect.h"
#include "publish/table_loader.h"
#include "worker/worker_parts.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <signal.h>

enum { LARGE, SMALL, N_FILES };

struct parts {
	struct worker *worker, *large_file_worker;
	struct module_table *modules;
	struct files *files;
	struct table_loader *loader;
	bool done[N_FILES];
	int err[N_FILES];
};

static int setup(void **state)
{
	static const char source[] = "int g(int); int f(int n) { return g(n) + 1; }\n";

	if (files_setup(state))
		return -1;
	write_file("s.c", source, strlen(source));
	return shell(
		"gcc -w -O2 -shared -fPIC s.c -o small.so && cp small.so large.so && "
		"truncate -s 16M large.so");
}

static void on_pages(void *arg, uint64_t cookie, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
}

static void on_done(void *arg, uint64_t cookie, int err,
		    const struct table_answer *answer)
{
	struct parts *parts = arg;

	assert_in_range(cookie, 0, N_FILES - 1);
	assert_false(parts->done[cookie]);
	parts->done[cookie] = true;
	parts->err[cookie] = err;
}

static void parts_begin(struct parts *parts)
{
	const struct table_sink sink = { .arg = parts,
					 .pages = on_pages,
					 .done = on_done };

	*parts = (struct parts){ 0 };
	assert_int_equal(worker_new(&parts->worker), 0);
	assert_int_equal(worker_new(&parts->large_file_worker), 0);
	assert_int_equal(module_table_new(&parts->modules), 0);
	assert_int_equal(files_new(&parts->files,
				   &(struct files_config){ .worker = parts->worker,
							   .modules = parts->modules }),
			 0);
	assert_int_equal(table_loader_new(&parts->loader, parts->worker,
					  parts->large_file_worker, NULL, &sink),
			 0);
}

static void parts_end(struct parts *parts)
{
	table_loader_free(parts->loader);
	files_free(parts->files);
	module_table_free(parts->modules);
	worker_free(parts->large_file_worker);
	worker_free(parts->worker);
}

static void begin_both(struct parts *parts)
{
	assert_int_equal(
		table_loader_begin(parts->loader, open_file("large.so"), LARGE, true), 0);
	assert_int_equal(
		table_loader_begin(parts->loader, open_file("small.so"), SMALL, true), 0);
}

static int collect(const struct parts *parts, int wait_ms)
{
	return collect_answers(&(struct collect_from){ NULL, parts->files, parts->worker,
						       parts->large_file_worker },
			       &(struct wait_limits){ .all_ms = wait_ms });
}

static pid_t parser_of(const struct worker *worker)
{
	char path[64];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", worker->supervisor.pid,
		 worker->supervisor.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

static void waits_for_both(void **state)
{
	struct parts parts;

	parts_begin(&parts);
	begin_both(&parts);
	assert_int_equal(collect(&parts, 20000), 0);
	for (int i = 0; i < N_FILES; i++) {
		assert_true(parts.done[i]);
		assert_int_equal(parts.err[i], 0);
	}
	assert_int_equal(worker_counts(parts.worker)->requests, 1);
	assert_int_equal(worker_counts(parts.large_file_worker)->requests, 1);
	parts_end(&parts);
}

/* As if it took for ever. */
static void small_ones_do_not_wait(void **state)
{
	struct parts parts;
	pid_t stopped;

	parts_begin(&parts);
	stopped = parser_of(parts.large_file_worker);
	assert_int_equal(kill(stopped, SIGSTOP), 0);
	begin_both(&parts);
	for (int i = 0; i < 400 && !parts.done[SMALL]; i++)
		assert_in_range(collect(&parts, 10), 1, N_FILES);
	assert_true(parts.done[SMALL]);
	assert_false(parts.done[LARGE]);
	assert_int_equal(kill(stopped, SIGCONT), 0);
	assert_int_equal(collect(&parts, 20000), 0);
	assert_true(parts.done[LARGE]);
	assert_int_equal(parts.err[LARGE], 0);
	parts_end(&parts);
}

#define FOR_EVER_MS 100000

/* Ctrl-C while weft waits for what takes for ever. */
static void who_is_to_stop_does_not_wait(void **state)
{
	struct signals signals;
	struct parts parts;
	pid_t stopped;
	int64_t begun;

	parts_begin(&parts);
	assert_int_equal(signals_take(&signals), 0);
	stopped = parser_of(parts.worker);
	assert_int_equal(kill(stopped, SIGSTOP), 0);
	begin_both(&parts);
	begun = worker_now_ms();
	assert_int_equal(raise(SIGINT), 0);
	assert_in_range(collect(&parts, FOR_EVER_MS), 1, N_FILES);
	assert_in_range(worker_now_ms() - begun, 0, FOR_EVER_MS - 1);
	assert_int_equal(signals_read(&signals), SIGNALS_STOP); /* it still stops us */
	assert_int_equal(kill(stopped, SIGCONT), 0);
	assert_int_equal(collect(&parts, 20000), 0);
	signals_restore(&signals);
	signals_close(&signals);
	parts_end(&parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_both),
		cmocka_unit_test(small_ones_do_not_wait),
		cmocka_unit_test(who_is_to_stop_does_not_wait),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
