// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a parser that a file has taken over may say to weft: any messages, in answer to
 * each of its questions. Data: the question, then messages, each behind two bytes of
 * its length. fork() fails here, so no other parser takes its place.
 */
#include "parsers.h"

#include "worker/worker_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ASK_SCAN,
	ASK_TABLE,
	ASK_NOTED_TABLE,
	ASK_HASH,
	ASK_NAMES,
	ASK_PLACES,
	N_QUESTIONS
};

#define ADDRS 8

pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return -1;
}

struct answers {
	unsigned int done;
	uint32_t n_pages, n_came;
	unsigned char seen[ADDRS];
};

static void on_elf_info(void *arg, uint64_t cookie, int err, const struct elf_info *info)
{
	struct answers *answers = arg;

	REQUIRE(cookie == 7 && !answers->done++);
	REQUIRE(err <= 0 && info->n_segments <= SEGMENTS_MAX);
	REQUIRE(info->n_keys <= FILE_KEYS_MAX && info->build_id_bytes <= BUILD_ID_MAX);
}

static void on_pages(void *arg, uint64_t cookie, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	struct answers *answers = arg;

	REQUIRE(cookie == 7 && n && first == answers->n_came);
	if (!first)
		answers->n_pages = pages[0].head.n_pages;
	REQUIRE(n <= answers->n_pages - first && answers->n_pages <= UNWIND_PAGES_MAX);
	answers->n_came += n;
}

static void on_table(void *arg, uint64_t cookie, int err,
		     const struct table_answer *answer)
{
	struct answers *answers = arg;

	REQUIRE(cookie == 7 && !answers->done++ && err <= 0);
	REQUIRE(err || (answers->n_came == answers->n_pages && answers->n_came));
	if (!err && answer->byte_ranges)
		REQUIRE(byte_ranges_valid(answer->byte_ranges,
					  byte_ranges_size(answer->byte_ranges->n)));
}

static void on_hashed(void *arg, uint64_t cookie, int err, const struct hash *hash,
		      int fd)
{
	struct answers *answers = arg;

	REQUIRE(cookie == 7 && !answers->done++ && err <= 0);
	close(fd);
}

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	struct answers *answers = arg;

	REQUIRE(index < ADDRS && !answers->seen[index]++);
	require_clean(name);
	return 0;
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	struct answers *answers = arg;

	REQUIRE(index < ADDRS && !answers->seen[index]++ && n && n <= INLINES_MAX + 1);
	for (size_t i = 0; i < n; i++) {
		REQUIRE(strlen(locations[i].name) < NAME_BYTES_MAX);
		REQUIRE(strlen(locations[i].file) < NAME_BYTES_MAX);
	}
	return 0;
}

/* Messages of data, then the end of what is said. */
static void speak(int end, const uint8_t *data, size_t n)
{
	for (size_t at = 1; at + 2 < n;) {
		size_t some = data[at] | (size_t)data[at + 1] << 8;

		at += 2;
		if (some > n - at)
			some = n - at;
		if (!some || send(end, data + at, some, MSG_DONTWAIT) < 0)
			break;
		at += some;
	}
	shutdown(end, SHUT_WR);
}

/* Names are waited for, so the answer is there before. */
static void ask_names(struct worker *worker, bool locations, struct answers *answers)
{
	static const uint64_t addrs[ADDRS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct name_request request = {
		.source = locations ? NAMES_LOCATIONS : NAMES_ELF,
		.fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.addrs = addrs,
		.n = ADDRS,
		.deadline_ms = 1000,
	};

	if (locations)
		worker_locations(worker, &request, NULL, on_locations, answers);
	else
		worker_names(worker, &request, on_name, answers);
	close(request.fd);
}

static void ask(struct worker *worker, unsigned int question)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct byte_ranges list;

	byte_ranges_of_ends(&list, 10000);
	if (question == ASK_SCAN)
		REQUIRE(!worker_submit_scan(worker, fd, 7));
	else if (question == ASK_TABLE)
		REQUIRE(!worker_submit_table(worker, fd, 7));
	else if (question == ASK_NOTED_TABLE)
		REQUIRE(!worker_submit_recorded_table(worker, fd, 7));
	else
		REQUIRE(!worker_submit_hash(worker, fd, 7, &list));
}

void fuzz_replies(const uint8_t *data, size_t n)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	struct answers answers = { 0 };
	const struct table_sink sink = { &answers, on_pages, on_table, on_hashed, NULL };
	unsigned int question = n ? data[0] % N_QUESTIONS : 0;
	int ends[2];

	REQUIRE(worker);
	REQUIRE(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	worker->sock = ends[0];
	worker->supervisor = (struct supervisor){ -1, -1 };
	worker->scan_deadline_ms = 1000;
	worker_set_table_sink(worker, &sink);
	if (question >= ASK_NAMES) {
		speak(ends[1], data, n);
		ask_names(worker, question == ASK_PLACES, &answers);
	} else {
		/* who speaks before he is asked is ended */
		ask(worker, question);
		speak(ends[1], data, n);
		REQUIRE(!worker_collect(worker, 1000, on_elf_info, &answers));
		REQUIRE(answers.done == 1);
	}
	worker_free(worker);
	close(ends[1]);
}

struct reply {
	FILE *f;
};

static struct reply begin(const char *folder, const char *name, uint8_t question)
{
	struct reply reply;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	reply.f = fopen(path, "we");
	REQUIRE(reply.f);
	fputc(question, reply.f);
	return reply;
}

static void say(struct reply *reply, const void *bytes, size_t n)
{
	fputc((int)(n & 0xff), reply->f);
	fputc((int)(n >> 8), reply->f);
	fwrite(bytes, 1, n, reply->f);
}

static void write_table(const char *folder, const char *name, uint8_t question)
{
	struct reply reply = begin(folder, name, question);
	static struct protocol_table table;
	static struct protocol_pages pages;
	size_t n = offsetof(struct protocol_table, byte_ranges) + byte_ranges_size(1);

	memset(&pages, 0, sizeof(pages));
	table.head = (struct protocol_answer){ .kind = PROTOCOL_TABLED, .count = 4 };
	byte_ranges_of_ends(&table.byte_ranges, 4096);
	say(&reply, &table, n);
	pages.head = (struct protocol_answer){ .kind = PROTOCOL_PAGES, .count = 2 };
	pages.pages[0].head = (struct unwind_head){ .n_pages = 4,
						    .n_blocks = 1,
						    .rules_page = 1,
						    .blocks_page = 2,
						    .rows_page = 3,
						    .n_rules = 1 };
	say(&reply, &pages, sizeof(pages.head) + 2 * sizeof(pages.pages[0]));
	say(&reply, &pages, sizeof(pages.head) + 2 * sizeof(pages.pages[0]));
	fclose(reply.f);
}

static void write_names(const char *folder, const char *name, uint8_t question)
{
	static const struct protocol_answer done = { .kind = PROTOCOL_DONE };
	struct reply reply = begin(folder, name, question);
	static union protocol_buffer buf;
	size_t at = sizeof(buf.head);

	memset(&buf, 0, sizeof(buf));
	buf.head.kind = question == ASK_NAMES ? PROTOCOL_NAMED : PROTOCOL_LOCATED;
	for (uint32_t i = 0; i < 3; i++) {
		const struct protocol_name named = { 0x1000, i, 5 };
		const struct protocol_location location = { .index = 1,
							    .line = i,
							    .depth = (uint16_t)i,
							    .is_last = i == 2,
							    .name_bytes = 5,
							    .file_bytes = 3 };
		size_t n = question == ASK_NAMES ? sizeof(named) : sizeof(location);

		memcpy(buf.bytes + at,
		       question == ASK_NAMES ? (const void *)&named : &location, n);
		memcpy(buf.bytes + at + n, "name_f.c", 8);
		at += (n + 8 + 7) & ~(size_t)7;
		buf.head.count++;
	}
	say(&reply, &buf, at);
	say(&reply, &done, sizeof(done));
	fclose(reply.f);
}

void write_replies(const char *folder)
{
	static struct protocol_elf_info info = { .head.kind = PROTOCOL_ELF_INFO };
	static const struct protocol_hash hash = { .head.kind = PROTOCOL_HASHED };
	static const struct protocol_answer refused = { .kind = PROTOCOL_ELF_INFO,
							.err = -ENOEXEC };
	struct reply reply = begin(folder, "facts", ASK_SCAN);

	info.info.n_segments = 2;
	info.info.is_64bit = 1;
	say(&reply, &info, sizeof(info));
	fclose(reply.f);
	reply = begin(folder, "refused", ASK_SCAN);
	say(&reply, &refused, sizeof(refused));
	fclose(reply.f);
	reply = begin(folder, "hash", ASK_HASH);
	say(&reply, &hash, sizeof(hash));
	fclose(reply.f);
	write_table(folder, "table", ASK_TABLE);
	write_table(folder, "noted", ASK_NOTED_TABLE);
	write_names(folder, "names", ASK_NAMES);
	write_names(folder, "locations", ASK_PLACES);
}
