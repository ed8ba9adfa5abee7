/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a module's file comes in pieces: its metadata from one worker,
 * its table from another or out of the cache, and processes map it meanwhile. In
 * every order, each of them must be walked by that table in the end, and by frame
 * pointer where a piece cannot be had. The workers and the kernel's maps are the
 * test's own.
 */
#include "base/vec.h"
#include "proc/side_event.h"
#include "publish/publisher.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include "child.h"

#include <sys/sysmacros.h>

#define TEXT_VADDR 0x401000
#define TEXT_PGOFF 0x1000
#define PAGES	   64
#define BORN_NS	   1000ULL /* of processes and what they map */

/* ---- a worker that answers when it is told to ---- */

enum piece { METADATA, TABLE, N_PIECES };

struct worker {
	bool asked[N_PIECES];
	bool answers[N_PIECES]; /* with the next collect */
	int err[N_PIECES];
	uint64_t cookie;
	unsigned int n_asked[N_PIECES];
	struct table_sink sink;
};

static int ask(struct worker *worker, enum piece piece, int fd, uint64_t cookie)
{
	close(fd);
	assert_false(worker->asked[piece]);
	worker->asked[piece] = true;
	worker->n_asked[piece]++;
	worker->cookie = cookie;
	return 0;
}

int worker_submit_scan(struct worker *worker, int fd, uint64_t cookie)
{
	return ask(worker, METADATA, fd, cookie);
}

int worker_submit_table(struct worker *worker, int fd, uint64_t cookie)
{
	return ask(worker, TABLE, fd, cookie);
}

int worker_submit_recorded_table(struct worker *worker, int fd, uint64_t cookie)
{
	return ask(worker, TABLE, fd, cookie);
}

int worker_submit_hash(struct worker *worker, int fd, uint64_t cookie,
		       const struct byte_ranges *list)
{
	fail_msg("there is no cache");
	return -1;
}

void worker_set_table_sink(struct worker *worker, const struct table_sink *sink)
{
	worker->sink = *sink;
}

int worker_fd(const struct worker *worker)
{
	return -1;
}

static void answer_scan(struct worker *worker, scan_sink sink, void *arg)
{
	struct elf_info info = {
		.n_segments = 1,
		.segments = { { .offset = TEXT_PGOFF,
				.vaddr = TEXT_VADDR,
				.file_bytes = 0x1000,
				.memory_bytes = 0x1000,
				.flags = 5 } },
	};

	worker->asked[METADATA] = worker->answers[METADATA] = false;
	sink(arg, worker->cookie, worker->err[METADATA],
	     worker->err[METADATA] ? NULL : &info);
}

static void answer_table(struct worker *worker)
{
	const union unwind_page pages[2] = { { .head = { .text = TEXT_VADDR,
							 .n_pages = 2 } } };
	struct table_answer answer = { 0 };
	const struct table_sink *sink = &worker->sink;

	worker->asked[TABLE] = worker->answers[TABLE] = false;
	if (!worker->err[TABLE]) {
		sink->pages(sink->arg, worker->cookie, 0, pages, 2);
		answer.head = pages[0].head;
	}
	sink->done(sink->arg, worker->cookie, worker->err[TABLE], &answer);
}

int worker_collect(struct worker *worker, int wait_ms, scan_sink sink, void *arg)
{
	if (worker->asked[METADATA] && worker->answers[METADATA])
		answer_scan(worker, sink, arg);
	if (worker->asked[TABLE] && worker->answers[TABLE])
		answer_table(worker);
	return worker->asked[METADATA] + worker->asked[TABLE];
}

/* ---- the kernel's maps ---- */

static union unwind_page kernel_pages[PAGES];
static VEC(struct process_info) kernel_processes; /* by pid */

int publish_maps_put_process(const struct publish_maps *maps, pid_t tgid,
			     const struct process_info *what)
{
	while (kernel_processes.n <= (size_t)tgid)
		assert_int_equal(vec_push(&kernel_processes, (struct process_info){ 0 }),
				 0);
	kernel_processes.items[tgid] = *what;
	return 0;
}

void publish_maps_remove_process(const struct publish_maps *maps, pid_t tgid)
{
	if ((size_t)tgid < kernel_processes.n)
		kernel_processes.items[tgid] = (struct process_info){ 0 };
}

int publish_maps_write_pages(const struct publish_maps *maps, uint32_t first,
			     const union unwind_page *pages, uint32_t n)
{
	assert_in_range(first, 1, PAGES - n);
	memcpy(&kernel_pages[first], pages, n * sizeof(*pages));
	return 0;
}

/* What a tick finds of a process's only file. */
static struct unwind_mapping mapping_of(pid_t pid)
{
	const struct process_info *what = &kernel_processes.items[pid];

	assert_true((size_t)pid < kernel_processes.n && what->mapping_table);
	assert_int_equal(kernel_pages[what->mapping_table].mapping_head.generation,
			 what->generation);
	return kernel_pages[what->mapping_table].mappings[1];
}

/* ---- processes that map the file ---- */

struct trial {
	struct worker worker;
	struct module_table *modules;
	struct publisher *publisher;
	pid_t pids[2];
	uint64_t at; /* where they map it */
};

static void trial_begin(struct trial *t)
{
	int fd = open_file("file");
	void *at = mmap(NULL, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, TEXT_PGOFF);

	assert_ptr_not_equal(at, MAP_FAILED);
	*t = (struct trial){ .at = (uint64_t)at };
	for (int i = 0; i < 2; i++)
		t->pids[i] = new_child();
	munmap(at, 0x1000);
	close(fd);
	memset(kernel_pages, 0, sizeof(kernel_pages));
	assert_int_equal(module_table_new(&t->modules), 0);
	assert_int_equal(publisher_new(&t->publisher,
				       &(struct publisher_config){
					       .maps = { .n_pages = PAGES },
					       .worker = &t->worker,
					       .modules = t->modules,
					       .tables = true,
				       }),
			 0);
}

static void trial_end(struct trial *t)
{
	publisher_free(t->publisher);
	module_table_free(t->modules);
	for (int i = 0; i < 2; i++)
		end_child(t->pids[i]);
	vec_free(&kernel_processes);
	kernel_processes.n = 0;
}

static void map_file(struct trial *t, int who)
{
	struct side_event event = { .kind = SIDE_MMAP,
				    .time_ns = BORN_NS,
				    .pid = (uint32_t)t->pids[who],
				    .tid = (uint32_t)t->pids[who],
				    .start = t->at,
				    .bytes = 0x1000,
				    .pgoff = TEXT_PGOFF };
	struct str record = { 0 };
	struct stat st;

	assert_int_equal(stat("file", &st), 0);
	event.maj = major(st.st_dev);
	event.min = minor(st.st_dev);
	event.ino = st.st_ino;
	snprintf(event.path, sizeof(event.path), "%s/file", files_dir);
	side_event_write(&record, &event);
	assert_int_equal(publisher_enqueue(t->publisher, record.s, record.n), 0);
	str_free(&record);
}

/* A: the first process maps the file; B: another one does; M, T: metadata and table
 * come, or the word that they do not. */
static void happen(struct trial *t, char what)
{
	if (what == 'A' || what == 'B')
		map_file(t, what - 'A');
	else
		t->worker.answers[what == 'M' ? METADATA : TABLE] = true;
	assert_true(publisher_flush(t->publisher, 0) >= 0);
}

static void expect(const struct trial *t, const char *order, bool table)
{
	for (int i = 0; i < 2; i++) {
		struct unwind_mapping mapping = mapping_of(t->pids[i]);
		bool by_fp = mapping.flags & UNWIND_BY_FP;

		if (!!mapping.table != table || by_fp == table ||
		    (table && mapping.bias != t->at - TEXT_VADDR))
			fail_msg("order %s, process %c: table %u, by frame pointer %d, "
				 "bias %#llx",
				 order, 'A' + i, mapping.table, by_fp, mapping.bias);
	}
}

static const char *const orders[] = { "ABMT", "ABTM", "AMBT", "AMTB", "ATBM", "ATMB" };

static void try_all(int metadata_err, int table_err)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct trial t;

		trial_begin(&t);
		t.worker.err[METADATA] = metadata_err;
		t.worker.err[TABLE] = table_err;
		for (const char *step = orders[i]; *step; step++)
			happen(&t, *step);
		expect(&t, orders[i], !metadata_err && !table_err);
		assert_int_equal(t.worker.n_asked[METADATA], 1);
		assert_int_equal(t.worker.n_asked[TABLE], 1);
		trial_end(&t);
	}
}

static void all_come(void **state)
{
	try_all(0, 0);
}

static void no_table(void **state)
{
	try_all(0, -ENODATA);
}

static void no_metadata(void **state)
{
	try_all(-EBADMSG, 0);
}

static void nothing_comes(void **state)
{
	try_all(-EPIPE, -EPIPE);
}

/* ---- a tick that waits too long ---- */

#define OVERDUE_NS  2000000000ULL
#define UNMAPPED_NS 200000000ULL

static bool on_awaited(struct trial *t, uint64_t addr, uint64_t time_ns)
{
	bool unmapped =
		publisher_on_awaited(t->publisher, (uint32_t)t->pids[0], addr, time_ns);

	assert_true(publisher_flush(t->publisher, 0) >= 0);
	return unmapped;
}

static struct publisher_counts counts_of(const struct trial *t)
{
	struct publisher_counts counts;

	publisher_count(t->publisher, &counts);
	return counts;
}

/* As if a write had got lost: what ticks find is put right, and counted. */
static void what_got_lost_is_told_again(void **state)
{
	struct trial t;
	struct process_info *what;

	trial_begin(&t);
	for (const char *step = "ABMT"; *step; step++)
		happen(&t, *step);
	what = &kernel_processes.items[t.pids[0]];
	memset(&kernel_pages[what->mapping_table].mappings[1], 0,
	       sizeof(struct unwind_mapping));
	assert_false(on_awaited(&t, t.at, BORN_NS + OVERDUE_NS - 1));
	assert_int_equal(mapping_of(t.pids[0]).table, 0);
	assert_int_equal(counts_of(&t).overdue, 0);
	assert_false(on_awaited(&t, t.at, BORN_NS + OVERDUE_NS));
	expect(&t, "ABMT", true);
	assert_int_equal(counts_of(&t).overdue, 1);
	assert_int_equal(counts_of(&t).asked_again, 1);
	/* at once it is not tried again */
	assert_false(on_awaited(&t, t.at, BORN_NS + OVERDUE_NS));
	assert_int_equal(counts_of(&t).asked_again, 1);
	trial_end(&t);
}

static void a_busy_worker_is_not_asked_twice(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABM"; *step; step++)
		happen(&t, *step);
	assert_false(on_awaited(&t, t.at, BORN_NS + OVERDUE_NS));
	assert_int_equal(counts_of(&t).overdue, 1);
	assert_int_equal(counts_of(&t).asked_again, 0);
	happen(&t, 'T');
	expect(&t, "ABMT", true);
	assert_int_equal(t.worker.n_asked[TABLE], 1);
	trial_end(&t);
}

/* Code that was moved there: /proc is to be asked. */
static void nothing_mapped_there(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABMT"; *step; step++)
		happen(&t, *step);
	assert_false(on_awaited(&t, t.at + 0x100000, BORN_NS + UNMAPPED_NS - 1));
	assert_true(on_awaited(&t, t.at + 0x100000, BORN_NS + UNMAPPED_NS));
	assert_int_equal(counts_of(&t).overdue, 0);
	trial_end(&t);
}

static int setup(void **state)
{
	char bytes[0x2000] = "any bytes";

	if (files_setup(state))
		return -1;
	write_file("file", bytes, sizeof(bytes));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come),
		cmocka_unit_test(no_table),
		cmocka_unit_test(no_metadata),
		cmocka_unit_test(nothing_comes),
		cmocka_unit_test(what_got_lost_is_told_again),
		cmocka_unit_test(a_busy_worker_is_not_asked_twice),
		cmocka_unit_test(nothing_mapped_there),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
