/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parse worker and we say to each other: SOCK_SEQPACKET, so that the
 * kernel keeps the frames and none can run into the next. Requests and their
 * answers come in one order.
 *
 *	SCAN, with a file		ELF_INFO: err, and struct elf_info if 0
 *	NAMES, with a file; then	NAMED: struct protocol_name and name, count
 *	addresses in further		times; as often as it takes;
 *	messages, n in all		DONE: err
 *	NAMES of NAMES_LOCATIONS,	LOCATED, as NAMED, of
 *	maybe behind ALTERNATE and	struct protocol_location;
 *	SPLITs, each with a file	these have no answer
 *	TABLE, with a file		TABLED: err, and if 0 the count of pages,
 *					struct unwind_stats, and where n is 1
 *					what it was made from; then PAGES, some
 *					in a message, until all came
 *	HASH, with a file; n ranges	HASHED: err, and the hash if 0
 *	behind the request
 */
#ifndef WEFT_WORKER_WORKER_PROTOCOL_H
#define WEFT_WORKER_WORKER_PROTOCOL_H

#include "obj/demangle.h"
#include "obj/elf_scan.h"
#include "obj/names.h"
#include "unwind/unwind_table.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROTOCOL_BYTES_MAX     (80u << 10) /* of one message: the longest name and more */
#define PROTOCOL_BYTES_USUALLY 32768	   /* of several things in one */
#define PROTOCOL_ADDRS_MAX     (60u << 10) /* of one NAMES request; whole questions */
#define PROTOCOL_FILE_BYTES    4096 /* of a source file's name; longer ones come cut */
#define PROTOCOL_PAGES_MAX     7    /* of a table in one message */

enum protocol_kind {
	PROTOCOL_SCAN = 1,
	PROTOCOL_NAMES,
	PROTOCOL_ELF_INFO,
	PROTOCOL_NAMED,
	PROTOCOL_DONE,
	PROTOCOL_TABLE,
	PROTOCOL_TABLED,
	PROTOCOL_PAGES,
	PROTOCOL_HASH,
	PROTOCOL_HASHED,
	PROTOCOL_LOCATED,
	PROTOCOL_ALTERNATE,
	PROTOCOL_SPLIT,
};

struct protocol_request {
	uint32_t kind;
	uint32_t source; /* enum name_source */
	uint64_t n;	 /* NAMES: addresses that follow; HASH: ranges; SPLIT: the
			  * unit's number; TABLE: 1, if it is to be told what the
			  * table was made from */
};

struct protocol_hash_request {
	struct protocol_request request;
	struct byte_ranges list; /* as much of it as is in use */
};

union protocol_any_request {
	struct protocol_request request;
	struct protocol_hash_request hash;
};

struct protocol_answer {
	uint32_t kind;
	int32_t err;
	uint32_t count;
	uint32_t reserved;
};

struct protocol_elf_info {
	struct protocol_answer head;
	struct elf_info info;
};

struct protocol_name {
	uint64_t start;
	uint32_t index;
	uint32_t bytes; /* of the name that follows, padded to 8 */
};

struct protocol_hash {
	struct protocol_answer head;
	struct hash hash;
};

/* An address's locations stand one after another, the innermost first. */
struct protocol_location {
	uint32_t index, line;
	uint16_t depth; /* from 0 */
	uint16_t is_last;
	uint16_t name_bytes, file_bytes; /* that follow, padded to 8 together */
};

struct protocol_table {
	struct protocol_answer head;
	struct unwind_stats stats;
	struct hash hash;
	struct byte_ranges
		byte_ranges; /* as much of it as is in use; no ranges: not told */
};

struct protocol_pages {
	struct protocol_answer head;
	union unwind_page pages[PROTOCOL_PAGES_MAX];
};

union protocol_buffer {
	struct protocol_answer head;
	struct protocol_elf_info info;
	struct protocol_table table;
	struct protocol_pages pages;
	struct protocol_hash hash;
	struct protocol_hash_request ask_hash;
	uint64_t words[PROTOCOL_BYTES_MAX / 8];
	unsigned char bytes[PROTOCOL_BYTES_MAX];
};

_Static_assert(sizeof(struct protocol_answer) + sizeof(struct protocol_location) +
			       NAME_BYTES_MAX + PROTOCOL_FILE_BYTES <=
		       PROTOCOL_BYTES_MAX,
	       "a location fits a message");
_Static_assert(PROTOCOL_ADDRS_MAX % JITDUMP_QUESTION_WORDS == 0,
	       "no question is torn in two");
_Static_assert(sizeof(struct protocol_pages) <= PROTOCOL_BYTES_MAX,
	       "pages fit a message");
_Static_assert(sizeof(struct protocol_table) <= PROTOCOL_BYTES_MAX,
	       "ranges fit a message");
_Static_assert(sizeof(struct protocol_hash_request) <= PROTOCOL_BYTES_MAX,
	       "ranges fit a message");

/* Sends one message, with a copy of fd unless it is -1. 0 or a negative errno;
 * flags as of sendmsg(2). No SIGPIPE. */
int protocol_send(int sock, const void *bytes, size_t n, int fd, int flags);

/* Receives one message: its size, 0 when the other end is closed, or a
 * negative errno; -EPROTO when it is larger than room. *ret_fd: a descriptor
 * that came along, or -1; NULL: none is taken. */
ssize_t protocol_recv(int sock, void *bytes, size_t room, int *ret_fd, int flags);

#endif
