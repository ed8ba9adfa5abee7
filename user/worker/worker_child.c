// SPDX-License-Identifier: BSD-2-Clause
#include "worker/worker_child.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_names.h"
#include "obj/inlines.h"
#include "obj/names.h"
#include "obj/symbol_shelf.h"
#include "worker/worker.h"
#include "worker/worker_sandbox.h"
#include "worker/worker_protocol.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Names on their way out, as many in a message as fit. */
struct outbox {
	int sock;
	struct inline_files files; /* for the next names */
	struct split_file splits[SPLIT_FILES_MAX];
	size_t n;
	union protocol_buffer buf;
	union protocol_any_request request; /* that is being answered */
	struct range_recorder recorder;
	struct symbol_shelf *shelf; /* NULL: there was no memory for one */
};

static void begin_kind(struct outbox *out, enum protocol_kind kind)
{
	out->buf.head = (struct protocol_answer){ .kind = kind };
	out->n = sizeof(out->buf.head);
}

static void begin_names(struct outbox *out)
{
	begin_kind(out, PROTOCOL_NAMED);
}

static int send_names(struct outbox *out)
{
	int err = 0;

	if (out->buf.head.count)
		err = protocol_send(out->sock, &out->buf, out->n, -1, 0);
	begin_kind(out, (enum protocol_kind)out->buf.head.kind);
	return err;
}

/* Room for so many bytes and what pads them to 8, which are zero. */
static void *room_for(struct outbox *out, size_t n, int *ret_err)
{
	size_t padded = (n + 7) & ~(size_t)7;
	unsigned char *room;

	*ret_err = out->n + padded > PROTOCOL_BYTES_USUALLY ? send_names(out) : 0;
	room = out->buf.bytes + out->n;
	memset(room, 0, padded);
	out->n += padded;
	out->buf.head.count++;
	return room;
}

/* They leave after each unit, since the next one's may meet the deadline. */
static int put_locations(void *arg, size_t index, const struct source_location *locations,
			 size_t n)
{
	int err = n ? 0 : send_names(arg);

	for (size_t i = 0; !err && i < n; i++) {
		size_t name = strnlen(locations[i].name, NAME_BYTES_MAX - 1);
		size_t file = strnlen(locations[i].file, PROTOCOL_FILE_BYTES - 1);
		const struct protocol_location head = {
			(uint32_t)index, locations[i].line, (uint16_t)i,
			i + 1 == n,	 (uint16_t)name,    (uint16_t)file
		};
		unsigned char *room = room_for(arg, sizeof(head) + name + file, &err);

		memcpy(room, &head, sizeof(head));
		memcpy(room + sizeof(head), locations[i].name, name);
		memcpy(room + sizeof(head) + name, locations[i].file, file);
	}
	return err;
}

static int put_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct outbox *out = arg;
	size_t length = strnlen(name, NAME_BYTES_MAX - 1);
	const struct protocol_name head = { start, (uint32_t)index, (uint32_t)length };
	int err;
	unsigned char *room = room_for(out, sizeof(head) + length, &err);

	memcpy(room, &head, sizeof(head));
	memcpy(room + sizeof(head), name, length);
	return err;
}

static int recv_addrs(int sock, uint64_t *addrs, size_t n)
{
	while (n) {
		ssize_t got = protocol_recv(sock, addrs, n * sizeof(*addrs), NULL, 0);

		if (got <= 0 || got % (ssize_t)sizeof(*addrs))
			return -EPROTO;
		addrs += (size_t)got / sizeof(*addrs);
		n -= (size_t)got / sizeof(*addrs);
	}
	return 0;
}

static int find_names(const struct protocol_request *request, int fd,
		      const uint64_t *addrs, struct outbox *out)
{
	const struct elf_names_request elf = { fd, addrs, request->n,
					       request->source == NAMES_ELF_LINKED };

	switch (request->source) {
#define X(name, read)                                                                    \
	case NAMES_##name:                                                               \
		return read(fd, addrs, request->n, put_name, out);
		NAME_SOURCES(X)
#undef X
	case NAMES_ELF:
	case NAMES_ELF_LINKED:
		return elf_names(out->shelf, &elf, put_name, out);
	case NAMES_LOCATIONS:
		begin_kind(out, PROTOCOL_LOCATED);
		return elf_inlines(
			&(struct inline_request){ fd, out->files, addrs, request->n },
			put_locations, out);
	}
	return -EINVAL;
}

static void close_files(struct outbox *out)
{
	if (out->files.alternate >= 0)
		close(GIVE_FD(out->files.alternate));
	while (out->files.n_splits)
		close(out->splits[--out->files.n_splits].fd);
}

static int answer_names(const struct protocol_request *request, int fd,
			struct outbox *out)
{
	struct protocol_answer done = { .kind = PROTOCOL_DONE };
	AUTO_FREE uint64_t *addrs = NULL;
	int err;

	if (request->n > PROTOCOL_ADDRS_MAX)
		return -EPROTO;
	addrs = calloc(request->n ? request->n : 1, sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	if (recv_addrs(out->sock, addrs, request->n))
		return -EPROTO;
	done.err = find_names(request, fd, addrs, out);
	err = send_names(out);
	begin_names(out);
	close_files(out);
	return err ? err : protocol_send(out->sock, &done, sizeof(done), -1, 0);
}

static int answer_scan(int sock, int fd)
{
	struct protocol_elf_info answer = { .head.kind = PROTOCOL_ELF_INFO };

	answer.head.err = elf_scan(fd, &answer.info);
	return protocol_send(sock, &answer,
			     answer.head.err ? sizeof(answer.head) : sizeof(answer), -1,
			     0);
}

static int send_pages(struct outbox *out, const struct unwind_table *table)
{
	struct protocol_pages *message = &out->buf.pages;
	uint32_t n_pages = unwind_table_head(table)->n_pages;
	int err = 0;

	for (uint32_t at = 0; at < n_pages && !err; at += message->head.count) {
		message->head = (struct protocol_answer){ .kind = PROTOCOL_PAGES };
		while (message->head.count < PROTOCOL_PAGES_MAX &&
		       at + message->head.count < n_pages) {
			unwind_table_page(table, at + message->head.count,
					  &message->pages[message->head.count]);
			message->head.count++;
		}
		err = protocol_send(out->sock, message,
				    sizeof(message->head) +
					    message->head.count *
						    sizeof(message->pages[0]),
				    -1, 0);
	}
	return err;
}

/* How many bytes of the message say it. */
static size_t put_ranges(struct outbox *out, struct protocol_table *answer)
{
	const struct byte_ranges *list = &out->recorder.list;
	uint32_t n = range_recorder_end(&out->recorder, &answer->hash) ? list->n : 0;

	memcpy(&answer->byte_ranges, list, byte_ranges_size(n));
	answer->byte_ranges.n = n;
	return offsetof(struct protocol_table, byte_ranges) + byte_ranges_size(n);
}

static int answer_table(struct outbox *out, int fd)
{
	struct protocol_table *answer = &out->buf.table;
	bool recorded = out->request.request.n == 1;
	AUTO(unwind_table) table = NULL;
	size_t n = sizeof(answer->head);
	int err;

	memset(answer, 0,
	       offsetof(struct protocol_table, byte_ranges) + byte_ranges_size(0));
	answer->head.kind = PROTOCOL_TABLED;
	answer->head.err =
		unwind_table_build(fd, recorded ? &out->recorder : NULL, &table);
	if (!answer->head.err) {
		answer->head.count = unwind_table_head(table)->n_pages;
		answer->stats = *unwind_table_stats(table);
		n = offsetof(struct protocol_table, byte_ranges) + byte_ranges_size(0);
		if (recorded)
			n = put_ranges(out, answer);
	}
	err = protocol_send(out->sock, answer, n, -1, 0);
	if (!err && table)
		err = send_pages(out, table);
	begin_names(out); /* this lay in their place */
	return err;
}

/* n: bytes of the whole request. */
static int answer_hash(struct outbox *out, size_t n, int fd)
{
	const struct protocol_hash_request *request = &out->request.hash;
	struct protocol_hash answer = { .head.kind = PROTOCOL_HASHED };
	size_t before = offsetof(struct protocol_hash_request, list);

	if (n < before || !byte_ranges_valid(&request->list, n - before))
		return -EPROTO;
	answer.head.err = byte_ranges_hash(fd, &request->list, &answer.hash);
	return protocol_send(out->sock, &answer,
			     answer.head.err ? sizeof(answer.head) : sizeof(answer), -1,
			     0);
}

static int take_alternate(struct outbox *out, int fd)
{
	if (fd < 0 || out->files.alternate >= 0)
		return -EPROTO;
	out->files.alternate = fd;
	return 0;
}

static int take_split(struct outbox *out, uint64_t id, int fd)
{
	if (fd < 0 || out->files.n_splits == SPLIT_FILES_MAX)
		return -EPROTO;
	out->splits[out->files.n_splits++] = (struct split_file){ id, fd };
	return 0;
}

static int answer_one(struct outbox *out)
{
	const struct protocol_request *request = &out->request.request;
	AUTO_CLOSE int fd = -1;
	ssize_t n = protocol_recv(out->sock, &out->request, sizeof(out->request), &fd, 0);

	if (n >= (ssize_t)sizeof(*request) && request->kind == PROTOCOL_HASH)
		return answer_hash(out, (size_t)n, fd);
	if (n != (ssize_t)sizeof(*request))
		return -EPROTO;
	if (request->kind == PROTOCOL_SCAN)
		return answer_scan(out->sock, fd);
	if (request->kind == PROTOCOL_NAMES)
		return answer_names(request, fd, out);
	if (request->kind == PROTOCOL_ALTERNATE)
		return take_alternate(out, GIVE_FD(fd));
	if (request->kind == PROTOCOL_SPLIT)
		return take_split(out, request->n, GIVE_FD(fd));
	if (request->kind == PROTOCOL_TABLE)
		return answer_table(out, fd);
	return -EPROTO;
}

void parser_run(int sock)
{
	struct outbox *out = calloc(1, sizeof(*out));

	if (!out)
		_exit(1);
	out->sock = sock;
	out->files = (struct inline_files){ .alternate = -1, .splits = out->splits };
	begin_names(out);
	if (symbol_shelf_new(&out->shelf))
		error_clear(); /* it reads all anew each time */
	sandbox_syscalls();
	while (!answer_one(out))
		;
	symbol_shelf_free(out->shelf);
	_exit(0);
}
