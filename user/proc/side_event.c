// SPDX-License-Identifier: BSD-2-Clause
#include "proc/side_event.h"

#include "base/error.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* sample_id_all with PERF_SAMPLE_TID | PERF_SAMPLE_TIME ends every record */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct mmap2_body { /* linux/perf_event.h, PERF_RECORD_MMAP2 */
	uint32_t pid, tid;
	uint64_t start, bytes, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

struct task_body { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct comm_body {
	uint32_t pid, tid;
};

struct lost_body {
	uint64_t id, lost;
};

#define NAME_ALIGN 8

/* A bit of perf_event_header.misc that no record of the kernel's has set. */
#define MISC_NOT_TOLD (1 << 8)

uint64_t side_event_time(const void *record, size_t bytes)
{
	struct trailer trailer;

	if (bytes < sizeof(struct perf_event_header) + sizeof(trailer))
		return 0;
	memcpy(&trailer, (const char *)record + bytes - sizeof(trailer), sizeof(trailer));
	return trailer.time_ns;
}

static const char deleted[] = " (deleted)";

/* How much of a path is the kernel's; that of a file may end so itself. */
static size_t deleted_bytes(const char *path, size_t n)
{
	size_t length = sizeof(deleted) - 1;

	return n > length && !memcmp(path + n - length, deleted, length) ? length : 0;
}

bool side_event_cut_deleted(char *path)
{
	size_t n = strlen(path), cut = deleted_bytes(path, n);

	path[n - cut] = '\0';
	return cut;
}

static int read_mmap(struct side_event *to, const char *body, size_t bytes)
{
	struct mmap2_body mmap;
	size_t n, cut;

	if (bytes < sizeof(mmap))
		return -EBADMSG;
	memcpy(&mmap, body, sizeof(mmap));
	to->pid = mmap.pid;
	to->tid = mmap.tid;
	to->start = mmap.start;
	to->bytes = mmap.bytes;
	to->pgoff = mmap.pgoff;
	to->maj = mmap.maj;
	to->min = mmap.min;
	to->ino = mmap.ino;
	to->is_shared = mmap.flags & MAP_SHARED;
	to->is_writable = mmap.prot & PROT_WRITE;
	n = strnlen(body + sizeof(mmap), bytes - sizeof(mmap));
	cut = deleted_bytes(body + sizeof(mmap), n);
	to->is_deleted = cut;
	n -= cut;
	if (n >= sizeof(to->path))
		n = sizeof(to->path) - 1;
	memcpy(to->path, body + sizeof(mmap), n);
	to->path[n] = '\0';
	to->kind = SIDE_MMAP;
	return 0;
}

static int read_task(struct side_event *to, uint32_t type, const char *body, size_t bytes)
{
	struct task_body task;

	if (bytes < sizeof(task))
		return -EBADMSG;
	memcpy(&task, body, sizeof(task));
	to->pid = task.pid;
	to->tid = task.tid;
	to->ppid = task.ppid;
	to->kind = type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT;
	return 0;
}

static int read_comm(struct side_event *to, uint16_t misc, const char *body, size_t bytes)
{
	struct comm_body comm;
	size_t n;

	if (bytes < sizeof(comm))
		return -EBADMSG;
	memcpy(&comm, body, sizeof(comm));
	to->pid = comm.pid;
	to->tid = comm.tid;
	to->kind = misc & PERF_RECORD_MISC_COMM_EXEC ? SIDE_EXEC : SIDE_RENAME;
	n = strnlen(body + sizeof(comm), bytes - sizeof(comm));
	if (n >= sizeof(to->comm))
		n = sizeof(to->comm) - 1;
	memcpy(to->comm, body + sizeof(comm), n);
	to->comm[n] = '\0';
	return 0;
}

static int read_lost(struct side_event *to, const char *body, size_t bytes)
{
	struct lost_body lost;

	if (bytes < sizeof(lost))
		return -EBADMSG;
	memcpy(&lost, body, sizeof(lost));
	to->lost = lost.lost;
	to->kind = SIDE_LOST;
	return 0;
}

int side_event_read(struct side_event *ret, const void *record, size_t bytes)
{
	struct perf_event_header header;
	const char *body = (const char *)record + sizeof(header);
	int err = 0;

	if (bytes < sizeof(header) + sizeof(struct trailer))
		return fail(-EBADMSG, "a sideband record of %zu bytes", bytes);
	memcpy(&header, record, sizeof(header));
	ret->time_ns = side_event_time(record, bytes);
	ret->kind = SIDE_OTHER;
	ret->is_told = !(header.misc & MISC_NOT_TOLD);
	bytes -= sizeof(header) + sizeof(struct trailer);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		err = read_mmap(ret, body, bytes);
		break;
	case PERF_RECORD_COMM:
		err = read_comm(ret, header.misc, body, bytes);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		err = read_task(ret, header.type, body, bytes);
		break;
	case PERF_RECORD_LOST:
		err = read_lost(ret, body, bytes);
		break;
	default:
		break;
	}
	return err ? fail(err, "a sideband record of type %u is too short", header.type)
		   : 0;
}

/* A path that ends as a deleted file's has another one behind it: a reader takes off
 * one. */
static size_t written_path_bytes(const struct side_event *event)
{
	size_t n = strlen(event->path);

	return event->is_deleted ? n + sizeof(deleted) - 1
				 : n + deleted_bytes(event->path, n);
}

static void write_mmap(struct str *out, const struct side_event *event, size_t name_bytes)
{
	static const char zeros[NAME_ALIGN];
	struct mmap2_body body = {
		.pid = event->pid,
		.tid = event->tid,
		.start = event->start,
		.bytes = event->bytes,
		.pgoff = event->pgoff,
		.maj = event->maj,
		.min = event->min,
		.ino = event->ino,
		.prot = PROT_EXEC | (event->is_writable ? PROT_WRITE : 0),
		.flags = event->is_shared ? MAP_SHARED : MAP_PRIVATE,
	};
	size_t n = strlen(event->path), whole = written_path_bytes(event);

	str_add_bytes(out, &body, sizeof(body));
	str_add_bytes(out, event->path, n);
	str_add_bytes(out, deleted, whole - n);
	str_add_bytes(out, zeros, name_bytes - whole);
}

/* What COMM and EXIT hold: pids, and a COMM the name. */
static void write_small(struct str *out, const struct side_event *event)
{
	const struct task_body exit = { .pid = event->pid, .tid = event->tid };
	const struct comm_body comm = { event->pid, event->tid };

	if (event->kind == SIDE_EXIT) {
		str_add_bytes(out, &exit, sizeof(exit));
		return;
	}
	str_add_bytes(out, &comm, sizeof(comm));
	str_add_bytes(out, event->comm, sizeof(event->comm));
}

static size_t body_bytes(const struct side_event *event, size_t name_bytes)
{
	switch (event->kind) {
	case SIDE_MMAP:
		return sizeof(struct mmap2_body) + name_bytes;
	case SIDE_EXIT:
		return sizeof(struct task_body);
	default:
		return sizeof(struct comm_body) + sizeof(event->comm);
	}
}

void side_event_write(struct str *out, const struct side_event *event)
{
	size_t name_bytes = (written_path_bytes(event) / NAME_ALIGN + 1) * NAME_ALIGN;
	struct perf_event_header header = {
		.type = event->kind == SIDE_MMAP   ? PERF_RECORD_MMAP2
			: event->kind == SIDE_EXIT ? PERF_RECORD_EXIT
						   : PERF_RECORD_COMM,
		.misc = (event->is_told ? 0 : MISC_NOT_TOLD) |
			(event->kind == SIDE_EXEC ? PERF_RECORD_MISC_COMM_EXEC : 0),
		.size = (uint16_t)(sizeof(header) + body_bytes(event, name_bytes) +
				   sizeof(struct trailer)),
	};
	struct trailer trailer = { event->pid, event->tid, event->time_ns };

	str_add_bytes(out, &header, sizeof(header));
	if (event->kind == SIDE_MMAP)
		write_mmap(out, event, name_bytes);
	else
		write_small(out, event);
	str_add_bytes(out, &trailer, sizeof(trailer));
}
