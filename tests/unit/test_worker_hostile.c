/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parser that a file has taken over answers what it likes. Here the test
 * itself is that parser: each lie costs the file at hand, nothing else, and a
 * fresh parser serves the next.
 */
#include "base/error.h"
#include "worker/worker_parts.h"

#include "named.h" /* last: cmocka has a fail() of its own */

#include <errno.h>
#include <sys/socket.h>

static const char source_c[] = "unsigned folly_async_stack_root_tls_key = -1;\n"
			       "int named_function(int n) { return n * n + 1; }\n";

static int setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("s.c", source_c, strlen(source_c));
	return shell("gcc -fPIC -shared s.c -o good.so");
}

/* A worker whose parser we are; the end to answer on. */
static struct worker *taken_over(int *ret_end)
{
	struct worker *worker;
	int ends[2];

	assert_int_equal(worker_new(&worker), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	close(worker->sock);
	worker->sock = ends[0];
	*ret_end = ends[1];
	return worker;
}

static void say(int end, const void *bytes, size_t n)
{
	assert_int_equal(send(end, bytes, n, MSG_NOSIGNAL), n);
}

struct scanned {
	size_t n;
	int err;
	uint32_t n_keys;
};

static void scan_done(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	struct scanned *scanned = arg;

	scanned->n++;
	scanned->err = err;
	scanned->n_keys = info->n_keys;
}

/* What comes of one scan when the parser says this. */
static int scan_against(const void *lie, size_t n)
{
	struct scanned scanned = { 0 }, after = { 0 };
	struct worker *worker;
	int end, err;

	worker = taken_over(&end);
	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 0), 0);
	say(end, lie, n);
	assert_int_equal(worker_collect(worker, 5000, scan_done, &scanned), 0);
	assert_int_equal(scanned.n, 1);
	assert_int_equal(scanned.n_keys, 0);
	err = scanned.err;
	close(end);
	assert_int_equal(worker_submit_scan(worker, open_file("good.so"), 0), 0);
	assert_int_equal(worker_collect(worker, 5000, scan_done, &after), 0);
	assert_int_equal(after.err, 0);
	assert_int_equal(after.n_keys, 1);
	assert_int_equal(worker_counts(worker)->restarts, 1);
	worker_free(worker);
	return err;
}

static void scans(void **state)
{
	struct protocol_elf_info info = { .head.kind = PROTOCOL_ELF_INFO };
	struct protocol_elf_info lie;
	static union protocol_buffer large;

	assert_int_equal(scan_against(&info, 3), -EPROTO);
	assert_int_equal(scan_against(&info, sizeof(info) - 1), -EPROTO);
	assert_int_equal(scan_against(&large, sizeof(large)), -EPROTO);
	lie = info;
	lie.head.kind = PROTOCOL_DONE;
	assert_int_equal(scan_against(&lie, sizeof(lie)), -EPROTO);
	lie = info;
	lie.head.err = 5;
	assert_true(scan_against(&lie.head, sizeof(lie.head)) < 0);
	lie.head.err = INT32_MIN;
	assert_true(scan_against(&lie.head, sizeof(lie.head)) < 0);
	lie = info;
	lie.info.n_segments = SEGMENTS_MAX + 1;
	assert_int_equal(scan_against(&lie, sizeof(lie)), -EPROTO);
	lie = info;
	lie.info.n_keys = UINT32_MAX;
	assert_int_equal(scan_against(&lie, sizeof(lie)), -EPROTO);
	lie = info;
	lie.info.build_id_bytes = 21;
	assert_int_equal(scan_against(&lie, sizeof(lie)), -EPROTO);
	lie = info;
	lie.info.libc = 9;
	assert_int_equal(scan_against(&lie, sizeof(lie)), -EPROTO);
}

/* A message of names, made up. */
struct lie {
	union protocol_buffer buf;
	size_t n;
};

static void begin_lie(struct lie *lie)
{
	memset(lie, 0, sizeof(*lie));
	lie->buf.head.kind = PROTOCOL_NAMED;
	lie->n = sizeof(lie->buf.head);
}

static void add_name(struct lie *lie, uint32_t index, const char *name, uint32_t bytes)
{
	struct protocol_name head = { 0x1000, index, bytes };

	memcpy(lie->buf.bytes + lie->n, &head, sizeof(head));
	strcpy((char *)lie->buf.bytes + lie->n + sizeof(head), name);
	lie->n += sizeof(head) + ((strlen(name) + 7) & ~7UL);
	lie->buf.head.count++;
}

static int names_against(const struct lie *lie, size_t n, struct named *named)
{
	const struct protocol_answer done = { .kind = PROTOCOL_DONE };
	const uint64_t addrs[] = { 1, 2, 3 };
	int end, err, fd = open_file("good.so");
	struct worker *worker = taken_over(&end);

	memset(named, 0, sizeof(*named));
	named->n = 3;
	for (size_t i = 0; i < n; i++)
		say(end, &lie->buf, lie->n);
	say(end, &done, sizeof(done));
	err = worker_names(worker,
			   &(struct name_request){ NAMES_ELF, fd, addrs, 3, 5000 },
			   named_sink, named);
	close(end);
	assert_int_equal(worker_counts(worker)->restarts, err ? 1 : 0);
	if (err)
		assert_int_equal(worker_names(worker,
					      &(struct name_request){ NAMES_ELF, fd,
								      addrs, 3, 5000 },
					      named_sink, named),
				 0);
	worker_free(worker);
	close(fd);
	return err;
}

static void names(void **state)
{
	static struct named named;
	static struct lie lie;

	begin_lie(&lie);
	add_name(&lie, 0, "honest", 6);
	assert_int_equal(names_against(&lie, 1, &named), 0);
	assert_string_equal(named.items[0].name, "honest");
	assert_int_equal(names_against(&lie, 2, &named), -EPROTO); /* twice */
	begin_lie(&lie);
	add_name(&lie, 2, "evil\033[2J\n;x", 11);
	assert_int_equal(names_against(&lie, 1, &named), 0);
	assert_string_equal(named.items[2].name, "evil?[2J?;x");
	begin_lie(&lie);
	add_name(&lie, 3, "index", 5);
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	add_name(&lie, 0, "too long", 4000);
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie); /* longer than any, and there */
	add_name(&lie, 0, "", NAME_BYTES_MAX);
	memset(lie.buf.bytes + lie.n, 'x', NAME_BYTES_MAX);
	lie.n += NAME_BYTES_MAX;
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	add_name(&lie, 0, "empty", 0);
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	add_name(&lie, 0, "wraps", UINT32_MAX - 3);
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
}

static void frames_of_names(void **state)
{
	static struct named named;
	static struct lie lie;

	begin_lie(&lie); /* nothing, for ever */
	assert_int_equal(names_against(&lie, 3, &named), -EPROTO);
	begin_lie(&lie);
	add_name(&lie, 0, "more than there is", 18);
	lie.buf.head.count = UINT32_MAX;
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	add_name(&lie, 0, "bytes left over", 15);
	lie.n += 8;
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	lie.n = 5;
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
	begin_lie(&lie);
	lie.buf.head.kind = PROTOCOL_ELF_INFO;
	assert_int_equal(names_against(&lie, 1, &named), -EPROTO);
}

static void silence(void **state)
{
	static struct named named = { .n = 1 };
	const uint64_t addr = 1;
	int end, fd = open_file("good.so");
	struct worker *worker = taken_over(&end);

	assert_int_equal(
		worker_names(worker,
			     &(struct name_request){ NAMES_ELF, fd, &addr, 1, 30 },
			     named_sink, &named),
		-ETIMEDOUT);
	close(end);
	worker_free(worker);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scans),
		cmocka_unit_test(names),
		cmocka_unit_test(frames_of_names),
		cmocka_unit_test(silence),
	};

	return cmocka_run_group_tests(tests, setup, files_teardown);
}
