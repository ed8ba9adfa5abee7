/* SPDX-License-Identifier: BSD-2-Clause */
/* Records come CPU by CPU, and are applied in the order of their times. */
#include "publish/sideband_queue.h"

#include "base/error.h"
#include "proc/side_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct {
	char order[64];
	size_t n;
} seen;

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	seen.order[seen.n++] = (char)map->start;
}

static void on_exec(void *arg, const struct process *process)
{
	seen.order[seen.n++] = 'X';
}

static void enqueue(struct sideband_queue *queue, enum side_kind kind, uint64_t time_ns,
		    char at)
{
	struct side_event event = { .kind = kind,
				    .time_ns = time_ns,
				    .pid = 1,
				    .tid = 1,
				    .start = (uint64_t)at,
				    .bytes = 1,
				    .ino = 1,
				    .path = "/f" };
	struct str record = { 0 };

	side_event_write(&record, &event);
	assert_int_equal(sideband_queue_add(queue, record.s, record.n), 0);
	str_free(&record);
}

struct parts {
	struct module_table *modules;
	struct process_table *processes;
	struct sideband_queue queue;
};

static void begin(struct parts *parts)
{
	const struct process_sink sink = { .mapped = on_mapped, .exec = on_exec };

	memset(&seen, 0, sizeof(seen));
	*parts = (struct parts){ 0 };
	assert_int_equal(module_table_new(&parts->modules), 0);
	assert_int_equal(process_table_new(&parts->processes, parts->modules, &sink), 0);
}

static void end(struct parts *parts)
{
	sideband_queue_free(&parts->queue);
	process_table_free(parts->processes);
	module_table_free(parts->modules);
}

static void by_time_then_as_they_came(void **state)
{
	struct parts parts;

	begin(&parts);
	enqueue(&parts.queue, SIDE_MMAP, 30, 'd'); /* one CPU's ring */
	enqueue(&parts.queue, SIDE_MMAP, 50, 'f');
	enqueue(&parts.queue, SIDE_EXEC, 10, 0); /* another's */
	enqueue(&parts.queue, SIDE_MMAP, 20, 'c');
	enqueue(&parts.queue, SIDE_MMAP, 30, 'e');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_string_equal(seen.order, "Xcdef");
	/* all are gone */
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_string_equal(seen.order, "Xcdef");
	enqueue(&parts.queue, SIDE_MMAP, 60, 'g');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_string_equal(seen.order, "Xcdefg");
	end(&parts);
}

/* It would be forgotten at once, and its number used again. */
static void who_ended_is_forgotten(void **state)
{
	struct parts parts;

	begin(&parts);
	enqueue(&parts.queue, SIDE_MMAP, 20, 'c');
	enqueue(&parts.queue, SIDE_EXIT, 30, 0);
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_null(process_get(parts.processes, 1));
	end(&parts);
}

/* Its pid is not the parent's: perf has that in front of the tids. */
static void enqueue_fork(struct sideband_queue *queue, uint64_t time_ns, uint32_t ppid)
{
	const struct side_event event = {
		.kind = SIDE_EXIT, .time_ns = time_ns, .pid = 1, .tid = 1
	};
	const uint32_t type = PERF_RECORD_FORK;
	struct str record = { 0 };

	side_event_write(&record, &event);
	memcpy(record.s, &type, sizeof(type));
	memcpy(record.s + sizeof(struct perf_event_header) + sizeof(ppid), &ppid,
	       sizeof(ppid));
	assert_int_equal(sideband_queue_add(queue, record.s, record.n), 0);
	str_free(&record);
}

/* The rings of two CPUs, read at different times: its end comes before its beginning. */
static void who_ended_before_he_began_is_not_there(void **state)
{
	struct parts parts;

	begin(&parts);
	enqueue(&parts.queue, SIDE_EXIT, 30, 0);
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	enqueue_fork(&parts.queue, 10, 7);
	enqueue(&parts.queue, SIDE_EXEC, 15, 0);
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_null(process_get(parts.processes, 1));
	enqueue(&parts.queue, SIDE_MMAP, 20, 'c');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_null(process_get(parts.processes, 1));
	/* who has its number next is another */
	enqueue_fork(&parts.queue, 40, 7);
	enqueue(&parts.queue, SIDE_MMAP, 50, 'd');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_non_null(process_get(parts.processes, 1));
	assert_string_equal(seen.order, "d");
	/* and what was remembered is not for ever */
	enqueue(&parts.queue, SIDE_MMAP, 50000000000, 'e');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	assert_int_equal(parts.queue.ends.n, 0);
	end(&parts);
}

static void a_broken_record_is_an_error_once(void **state)
{
	struct parts parts;

	begin(&parts);
	assert_int_equal(sideband_queue_add(&parts.queue, "short", 5), 0);
	enqueue(&parts.queue, SIDE_MMAP, 20, 'c');
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), -EBADMSG);
	error_clear();
	assert_int_equal(sideband_queue_apply(&parts.queue, parts.processes), 0);
	end(&parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time_then_as_they_came),
		cmocka_unit_test(who_ended_is_forgotten),
		cmocka_unit_test(who_ended_before_he_began_is_not_there),
		cmocka_unit_test(a_broken_record_is_an_error_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
