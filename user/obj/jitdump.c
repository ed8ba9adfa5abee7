// SPDX-License-Identifier: BSD-2-Clause
#include "obj/jitdump.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the specification numbers them; others are left out. */
enum { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_CLOSE = 3 };

#define MAGIC	       0x4A695444 /* "JiTD", in the byte order of who wrote it */
#define VERSION	       1
#define CLOCK_IS_A_TSC 1 /* a flag */

struct file_head {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct record_head {
	uint32_t id, bytes;
	uint64_t time_ns;
};

struct load {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, start, bytes, code;
	/* then the name with its NUL, and the code */
};

struct move {
	struct record_head head;
	uint32_t pid, tid;
	uint64_t vma, old_start, start, bytes, code;
};

/* n bytes from offset on, as the file has them; false: it has fewer. */
static bool read_at(struct jitdump *dump, uint64_t offset, void *ret, size_t n)
{
	if (offset < dump->at || offset + n > dump->at + dump->n) {
		ssize_t got =
			pread(dump->fd, dump->piece, sizeof(dump->piece), (off_t)offset);

		dump->at = offset;
		dump->n = got > 0 ? (size_t)got : 0;
	}
	if (n > dump->n - (offset - dump->at))
		return false;
	memcpy(ret, dump->piece + (offset - dump->at), n);
	return true;
}

int jitdump_open(struct jitdump *dump, int fd)
{
	struct file_head head;
	struct stat st;

	dump->fd = fd;
	dump->offset = dump->at = dump->n = 0;
	dump->is_cut = false;
	if (fstat(fd, &st))
		return fail_errno(-errno, "cannot stat a jitdump");
	if (!S_ISREG(st.st_mode) || !read_at(dump, 0, &head, sizeof(head)) ||
	    head.magic != MAGIC || head.version != VERSION || head.bytes < sizeof(head))
		return fail(-EBADMSG, "no jitdump");
	if (head.flags & CLOCK_IS_A_TSC)
		return fail(-ENOTSUP, "a jitdump with the times of a CPU's counter");
	dump->offset = head.bytes;
	return 0;
}

static bool is_whole(uint64_t start, uint64_t bytes)
{
	return bytes && start + bytes > start;
}

static bool take_load(struct jitdump *dump, const struct record_head *head,
		      struct jitdump_record *ret)
{
	struct load load;

	if (head->bytes <= sizeof(load) ||
	    !read_at(dump, dump->offset, &load, sizeof(load)) ||
	    load.bytes >= head->bytes - sizeof(load) || !is_whole(load.start, load.bytes))
		return false;
	*ret = (struct jitdump_record){
		.kind = JITDUMP_LOAD,
		.time_ns = head->time_ns,
		.start = load.start,
		.end = load.start + load.bytes,
		.code = load.code,
		.name = dump->offset + sizeof(load),
		.name_room = head->bytes - sizeof(load) - (size_t)load.bytes,
	};
	return true;
}

static bool take_move(struct jitdump *dump, const struct record_head *head,
		      struct jitdump_record *ret)
{
	struct move move;

	if (head->bytes < sizeof(move) ||
	    !read_at(dump, dump->offset, &move, sizeof(move)) ||
	    !is_whole(move.start, move.bytes) || !is_whole(move.old_start, move.bytes))
		return false;
	*ret = (struct jitdump_record){
		.kind = JITDUMP_MOVE,
		.time_ns = head->time_ns,
		.start = move.start,
		.end = move.start + move.bytes,
		.old_start = move.old_start,
		.code = move.code,
	};
	return true;
}

/* Is all of it in the file? Its last byte says so. */
static bool has_come(struct jitdump *dump, const struct record_head *head)
{
	unsigned char last;

	return pread(dump->fd, &last, 1, (off_t)(dump->offset + head->bytes - 1)) == 1;
}

int jitdump_next(struct jitdump *dump, struct jitdump_record *ret)
{
	struct record_head head;

	while (read_at(dump, dump->offset, &head, sizeof(head)) &&
	       head.bytes >= sizeof(head) && head.id != RECORD_CLOSE) {
		bool is_taken = false;

		if (dump->offset + head.bytes > dump->at + dump->n &&
		    !has_come(dump, &head))
			return 0;
		dump->is_cut = dump->offset + head.bytes > JITDUMP_BYTES_MAX;
		if (dump->is_cut)
			return 0;
		if (head.id == RECORD_LOAD)
			is_taken = take_load(dump, &head, ret);
		if (head.id == RECORD_MOVE)
			is_taken = take_move(dump, &head, ret);
		dump->offset += head.bytes;
		if (is_taken)
			return 1;
	}
	return 0;
}
