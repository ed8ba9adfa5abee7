// SPDX-License-Identifier: BSD-2-Clause
/* Records of the sideband are lost: a sample of who has a pid now is not named by what
 * the one before had mapped; and who lives on is not taken for another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pipeline/pipeline.h"
#include "proc/scan_all.h"
#include "shared/record.h"

struct seen {
	unsigned int samples, named, execs, mapped;
};

static int on_sample(void *arg, const struct sample_rec *rec,
		     const struct process *process)
{
	struct seen *seen = arg;

	seen->samples++;
	seen->named += process != NULL;
	return 0;
}

static void on_exec(void *arg, const struct process *process)
{
	struct seen *seen = arg;

	seen->execs += process->tgid == (uint32_t)getpid();
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct seen *seen = arg;

	seen->mapped += process->tgid == (uint32_t)getpid();
}

static void begin(struct seen *seen, struct pipeline **ret)
{
	const struct pipeline_sink sink = {
		.process = { .arg = seen, .exec = on_exec, .mapped = on_mapped },
		.sample = on_sample,
	};

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(pipeline_new(ret, &sink), 0);
}

static void hear(struct pipeline *pipeline, enum side_kind kind, uint64_t time_ns)
{
	const struct side_event event = { .kind = kind,
					  .time_ns = time_ns,
					  .pid = 42,
					  .tid = 42,
					  .start = 0x1000,
					  .bytes = 0x1000,
					  .ino = 7,
					  .path = "/bin/one" };
	struct event_sink input = pipeline_input(pipeline);
	AUTO_STR bytes = { 0 };

	side_event_write(&bytes, &event);
	assert_int_equal(input.sideband(input.arg, bytes.s, bytes.n), 0);
}

static void sample(struct pipeline *pipeline, uint64_t time_ns, uint64_t begun_ns)
{
	const struct sample_rec rec = {
		.ts_ns = time_ns, .begun_ns = begun_ns, .tgid = 42, .tid = 42
	};
	struct event_sink input = pipeline_input(pipeline);

	assert_int_equal(input.sample(input.arg, &rec, sizeof(rec)), 0);
	assert_int_equal(pipeline_advance(pipeline, time_ns), 0);
}

static void the_older_one_names_nothing(void **state)
{
	AUTO(pipeline) pipeline = NULL;
	struct seen seen;

	begin(&seen, &pipeline);
	hear(pipeline, SIDE_EXEC, 1000);
	hear(pipeline, SIDE_MMAP, 1100);
	sample(pipeline, 2000, 900);
	assert_int_equal(seen.named, 1);
	sample(pipeline, 4000, 3000); /* its fork and exec were lost */
	assert_int_equal(seen.named, 1);
	assert_int_equal(seen.samples, 2);
	hear(pipeline, SIDE_EXEC, 5000); /* as /proc says in the end */
	sample(pipeline, 6000, 3000);
	assert_int_equal(seen.named, 2);
	sample(pipeline, 7000, 0); /* of a tape that doesn't say */
	assert_int_equal(seen.named, 3);
}

/* Of all processes that run here, we are the one that we know. */
static void who_goes_on_is_the_same(void **state)
{
	AUTO(pipeline) pipeline = NULL;
	struct event_sink input;
	struct seen seen;
	unsigned int mapped;

	begin(&seen, &pipeline);
	input = pipeline_input(pipeline);
	assert_int_equal(
		scan_all(NULL, pipeline_processes(pipeline), &input, UINT64_MAX, NULL),
		0);
	assert_int_equal(pipeline_advance(pipeline, UINT64_MAX), 0);
	assert_int_equal(seen.execs, 1);
	mapped = seen.mapped;
	assert_true(mapped > 0);
	assert_int_equal(
		scan_all(NULL, pipeline_processes(pipeline), &input, UINT64_MAX, NULL),
		0);
	assert_int_equal(pipeline_advance(pipeline, UINT64_MAX), 0);
	assert_int_equal(seen.execs, 1);
	assert_int_equal(seen.mapped, mapped);
	/* of whom nothing is known, it is told as before */
	assert_int_equal(scan_all(NULL, NULL, &input, UINT64_MAX, NULL), 0);
	assert_int_equal(pipeline_advance(pipeline, UINT64_MAX), 0);
	assert_int_equal(seen.execs, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_older_one_names_nothing),
		cmocka_unit_test(who_goes_on_is_the_same),
	};

	return cmocka_run_group_tests_name("pid_reuse", tests, NULL, NULL);
}
