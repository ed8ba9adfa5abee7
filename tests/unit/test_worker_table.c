/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables through the parse worker: the same pages as without it, in turn
 * with scans, and a death of it costs no more than the table at hand.
 */
#include "base/error.h"
#include "sym/vdso.h"
#include "worker/worker_parts.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#define COOKIES 8

/* The first message of an answer that doesn't say what it was made from. */
#define TABLED_BYTES (offsetof(struct protocol_table, byte_ranges) + byte_ranges_size(0))

struct taken {
	size_t n; /* pages */
	union unwind_page *pages;
	int err;
	bool done;
	unsigned int turn; /* among the answers */
	struct unwind_head head;
	struct unwind_stats stats;
	struct byte_ranges *byte_ranges;
	struct hash hash;
};

struct collected {
	struct taken tables[COOKIES];
	unsigned int turns;
	uint64_t cpu_ns[COOKIES];
	pid_t kill; /* after the first pages */
};

static void on_pages(void *arg, uint64_t cookie, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	struct collected *collected = arg;
	struct taken *taken = &collected->tables[cookie];

	assert_int_equal(first, taken->n);
	if (!first) {
		assert_true(pages[0].head.n_pages >= n);
		free(taken->pages);
		taken->pages = calloc(pages[0].head.n_pages, sizeof(*pages));
	}
	memcpy(taken->pages + first, pages, n * sizeof(*pages));
	taken->n += n;
	if (collected->kill > 0)
		kill(collected->kill, SIGKILL);
	collected->kill = 0;
}

static void on_done(void *arg, uint64_t cookie, int err,
		    const struct table_answer *answer)
{
	struct collected *collected = arg;
	struct taken *taken = &collected->tables[cookie];

	assert_false(taken->done);
	taken->done = true;
	taken->err = err;
	taken->head = answer->head;
	taken->stats = answer->stats;
	taken->turn = ++collected->turns;
	taken->hash = answer->hash;
	if (answer->byte_ranges) {
		taken->byte_ranges = malloc(byte_ranges_size(answer->byte_ranges->n));
		memcpy(taken->byte_ranges, answer->byte_ranges,
		       byte_ranges_size(answer->byte_ranges->n));
	}
}

static void on_hashed(void *arg, uint64_t cookie, int err, const struct hash *hash,
		      int fd)
{
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
	on_done(arg, cookie, err, &(struct table_answer){ .hash = *hash });
}

static void on_scan(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	on_done(arg, cookie, err, &(struct table_answer){ 0 });
}

static void on_took(void *arg, uint64_t cookie, uint64_t cpu_ns)
{
	struct collected *collected = arg;

	assert_false(collected->tables[cookie].done);
	collected->cpu_ns[cookie] += cpu_ns;
}

static struct worker *start(struct collected *collected)
{
	const struct table_sink sink = { .arg = collected,
					 .pages = on_pages,
					 .done = on_done,
					 .hashed = on_hashed,
					 .took = on_took };
	struct worker *worker;

	assert_int_equal(worker_new(&worker), 0);
	worker_set_table_sink(worker, &sink);
	return worker;
}

static void finish(struct worker *worker, struct collected *collected)
{
	assert_int_equal(worker_collect(worker, 20000, on_scan, collected), 0);
}

static void end(struct worker *worker, struct collected *collected)
{
	for (int i = 0; i < COOKIES; i++) {
		free(collected->tables[i].pages);
		free(collected->tables[i].byte_ranges);
	}
	memset(collected, 0, sizeof(*collected));
	worker_free(worker);
}

static void expect_whole(const struct taken *taken, int fd)
{
	struct unwind_table *table;
	union unwind_page page;

	assert_true(taken->done);
	assert_int_equal(taken->err, 0);
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	assert_int_equal(taken->n, unwind_table_head(table)->n_pages);
	for (uint32_t i = 0; i < taken->n; i++) {
		unwind_table_page(table, i, &page);
		assert_memory_equal(&page, &taken->pages[i], sizeof(page));
	}
	assert_memory_equal(&taken->stats, unwind_table_stats(table),
			    sizeof(taken->stats));
	assert_memory_equal(&taken->head, unwind_table_head(table), sizeof(taken->head));
	unwind_table_free(table);
	close(fd);
}

/* The C library that this test runs with, whatever it is called. */
static int open_libc(void)
{
	char line[512], path[400];
	FILE *f = fopen("/proc/self/maps", "r");
	int fd = -1;

	while (fd < 0 && fgets(line, sizeof(line), f))
		if (strstr(line, "libc") &&
		    sscanf(line, "%*s %*s %*s %*s %*s %399s", path) == 1)
			fd = open_file(path);
	fclose(f);
	assert_true(fd >= 0);
	return fd;
}

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", "int data = 1;\n", 14); /* no code, nothing to tell */
	return shell("gcc -shared -fPIC -nostdlib -o bare s.c");
}

static void brings_the_same_pages(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);

	assert_int_equal(worker_submit_scan(worker, open_libc(), 0), 0);
	assert_int_equal(worker_submit_table(worker, open_libc(), 1), 0);
	assert_int_equal(worker_submit_table(worker, open_file("bare"), 2), 0);
	assert_int_equal(worker_submit_scan(worker, open_file("bare"), 3), 0);
	assert_int_equal(worker_submit_table(worker, vdso_open(), 4), 0);
	finish(worker, &collected);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(collected.tables[i].turn, i + 1);
	expect_whole(&collected.tables[1], open_libc());
	assert_true(collected.tables[1].n > PROTOCOL_PAGES_MAX);
	assert_int_equal(collected.tables[2].err, -ENODATA);
	assert_int_equal(collected.tables[2].n, 0);
	assert_int_equal(worker_counts(worker)->failed, 0);
	expect_whole(&collected.tables[4], vdso_open());
	end(worker, &collected);
}

/* All that the parser took until its last answer is some file's, but for what can't be
 * divided. */
static void says_what_each_took(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(worker_submit_table(worker, open_libc(), i), 0);
	finish(worker, &collected);
	for (unsigned int i = 0; i < 4; i++)
		sum += collected.cpu_ns[i];
	assert_in_range(sum, worker->pace.lap_ns - COOKIES * COOKIES,
			worker->pace.lap_ns);
	assert_true(sum > 1000);
	end(worker, &collected);
}

/* The parser, by the socket that leads to it. */
static pid_t parser_of(const struct worker *worker)
{
	char path[64];
	FILE *f;
	pid_t pid = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", worker->supervisor.pid,
		 worker->supervisor.pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

static void ends_one_table_with_its_death(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	unsigned int failed = 0;

	collected.kill = parser_of(worker);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(worker_submit_table(worker, open_libc(), i), 0);
	finish(worker, &collected);
	for (unsigned int i = 0; i < 4; i++) {
		if (!collected.tables[i].err) {
			expect_whole(&collected.tables[i], open_libc());
			continue;
		}
		assert_int_equal(collected.tables[i].err, -EPIPE);
		failed++;
	}
	assert_int_equal(failed, 1);
	end(worker, &collected);
}

static void ends_a_table_that_stalls(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);

	worker->scan_deadline_ms = 1000;
	kill(parser_of(worker), SIGSTOP);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(worker_submit_table(worker, open_libc(), i), 0);
	finish(worker, &collected);
	assert_int_equal(collected.tables[0].err, -ETIMEDOUT);
	assert_true(collected.cpu_ns[0] >= 1000000000);
	expect_whole(&collected.tables[1], open_libc());
	expect_whole(&collected.tables[2], open_libc());
	end(worker, &collected);
}

/* Two rules, one block, one page of rows. */
static const struct unwind_head good = {
	.n_pages = 4,
	.n_blocks = 1,
	.n_rules = 2,
	.rules_page = 1,
	.blocks_page = 2,
	.rows_page = 3,
};

/* What is made of a table of 4 pages whose first has this head. */
static int take_head(struct worker *worker, struct scan_job *job,
		     const struct unwind_head *head)
{
	struct protocol_pages *pages = &worker->buf.pages;

	worker->buf.table.head = (struct protocol_answer){ PROTOCOL_TABLED, 0, 4, 0 };
	assert_int_equal(worker_take_table(worker, job, TABLED_BYTES), 1);
	pages->head = (struct protocol_answer){ PROTOCOL_PAGES, 0, 1, 0 };
	pages->pages[0].head = *head;
	return worker_take_table(worker, job,
				 sizeof(pages->head) + sizeof(pages->pages[0]));
}

static void refuse_head(struct worker *worker, uint32_t *field, uint32_t value,
			const struct unwind_head *head)
{
	struct scan_job job = { .fd = -1 };
	uint32_t was = *field;

	*field = value;
	assert_int_equal(take_head(worker, &job, head), -EPROTO);
	*field = was;
	free(job.table);
}

/* Answers of a parser that a file took over. */
static void believes_no_sizes(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	struct unwind_head head = good;

	refuse_head(worker, &head.n_pages, 5, &head);
	refuse_head(worker, &head.n_blocks, UNWIND_BLOCKS_A_PAGE + 1, &head);
	refuse_head(worker, &head.n_blocks, UINT32_MAX, &head);
	refuse_head(worker, &head.n_rules, UNWIND_RULES_A_PAGE + 1, &head);
	refuse_head(worker, &head.n_rules, 0, &head);
	refuse_head(worker, &head.rules_page, 3, &head);
	refuse_head(worker, &head.rules_page, 0, &head);
	refuse_head(worker, &head.blocks_page, 4, &head);
	refuse_head(worker, &head.rows_page, 5, &head);
	end(worker, &collected);
}

static void takes_no_pages_too_many(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	struct protocol_pages *pages = &worker->buf.pages;
	size_t one = sizeof(pages->head) + sizeof(pages->pages[0]);
	struct scan_job job = { .fd = -1 };

	assert_int_equal(take_head(worker, &job, &good), 1);
	pages->head.count = 4; /* three are to come */
	assert_int_equal(
		worker_take_table(worker, &job, one + 3 * sizeof(pages->pages[0])),
		-EPROTO);
	pages->head.count = 1;
	assert_int_equal(worker_take_table(worker, &job, one - 1), -EPROTO);
	assert_int_equal(worker_take_table(worker, &job, one), 1);
	assert_int_equal(worker_take_table(worker, &job, one), 1);
	assert_int_equal(worker_take_table(worker, &job, one), 0);
	assert_int_equal(worker_take_table(worker, &job, one), -EPROTO);
	free(job.table);
	end(worker, &collected);
}

static void bounds_the_number_of_pages(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	const uint32_t bad[] = { 0, 1, UNWIND_PAGES_MAX + 1, UINT32_MAX };

	for (size_t i = 0; i < 4; i++) {
		struct scan_job job = { .fd = -1 };

		worker->buf.table.head =
			(struct protocol_answer){ PROTOCOL_TABLED, 0, bad[i], 0 };
		assert_int_equal(worker_take_table(worker, &job, TABLED_BYTES), -EPROTO);
		assert_null(job.table);
	}
	end(worker, &collected);
}

static void hashes_what_it_is_told(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	int fd = open_libc();
	struct byte_ranges list, wrong;
	struct hash hash;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	byte_ranges_of_ends(&list, (uint64_t)st.st_size);
	wrong = list;
	wrong.file_bytes++;
	assert_int_equal(worker_submit_hash(worker, open_libc(), 0, &list), 0);
	assert_int_equal(worker_submit_recorded_table(worker, open_libc(), 1), 0);
	assert_int_equal(worker_submit_table(worker, open_libc(), 2), 0);
	assert_int_equal(worker_submit_hash(worker, open_libc(), 3, &wrong), 0);
	finish(worker, &collected);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(collected.tables[i].turn, i + 1);
	assert_int_equal(collected.tables[0].err, 0);
	assert_int_equal(byte_ranges_hash(fd, &list, &hash), 0);
	assert_memory_equal(&collected.tables[0].hash, &hash, sizeof(hash));
	expect_whole(&collected.tables[1], open_libc());
	assert_non_null(collected.tables[1].byte_ranges);
	assert_true(collected.tables[1].byte_ranges->n > 2);
	assert_int_equal(byte_ranges_hash(fd, collected.tables[1].byte_ranges, &hash), 0);
	assert_memory_equal(&collected.tables[1].hash, &hash, sizeof(hash));
	expect_whole(&collected.tables[2], open_libc());
	assert_null(collected.tables[2].byte_ranges);
	assert_true(collected.tables[3].err < 0);
	close(fd);
	end(worker, &collected);
}

/* Of what it was made from, as a parser may say it that a file took over. */
static void believes_no_list(void **state)
{
	static struct collected collected;
	struct worker *worker = start(&collected);
	const size_t before = offsetof(struct protocol_table, byte_ranges);
	struct protocol_table *said = &worker->buf.table;
	struct scan_job job = { .fd = -1, .kind = JOB_RECORDED_TABLE };
	struct protocol_hash *hash = &worker->buf.hash;

	for (int i = 0; i < 6; i++) {
		size_t n = before + byte_ranges_size(1) - (i == 1);

		said->head = (struct protocol_answer){ PROTOCOL_TABLED, 0, 4, 0 };
		said->byte_ranges = (struct byte_ranges){ .file_bytes = 10, .n = 1 };
		said->byte_ranges.ranges[0] = (struct byte_range){ 4, 6 };
		if (i == 2)
			said->byte_ranges.n = 2;
		if (i == 3)
			said->byte_ranges.n = UINT32_MAX;
		if (i == 4)
			said->byte_ranges.ranges[0].bytes = 7;
		if (i == 5)
			n = before - 1;
		assert_int_equal(worker_take_table(worker, &job, n), i ? -EPROTO : 1);
		worker_free_table(&job);
	}
	hash->head = (struct protocol_answer){ PROTOCOL_HASHED, 0, 0, 0 };
	assert_int_equal(worker_take_hash(worker, &job, sizeof(*hash)), 0);
	assert_int_equal(worker_take_hash(worker, &job, sizeof(*hash) - 1), -EPROTO);
	assert_int_equal(worker_take_hash(worker, &job, sizeof(*hash) + 1), -EPROTO);
	assert_int_equal(worker_take_hash(worker, &job, 3), -EPROTO);
	hash->head.err = 1;
	assert_int_equal(worker_take_hash(worker, &job, sizeof(hash->head)), -EBADMSG);
	hash->head = (struct protocol_answer){ PROTOCOL_ELF_INFO, 0, 0, 0 };
	assert_int_equal(worker_take_hash(worker, &job, sizeof(*hash)), -EPROTO);
	end(worker, &collected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brings_the_same_pages),
		cmocka_unit_test(says_what_each_took),
		cmocka_unit_test(ends_one_table_with_its_death),
		cmocka_unit_test(ends_a_table_that_stalls),
		cmocka_unit_test(believes_no_sizes),
		cmocka_unit_test(takes_no_pages_too_many),
		cmocka_unit_test(bounds_the_number_of_pages),
		cmocka_unit_test(hashes_what_it_is_told),
		cmocka_unit_test(believes_no_list),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
