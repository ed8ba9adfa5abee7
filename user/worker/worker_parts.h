/* SPDX-License-Identifier: BSD-2-Clause */
/* What worker.c (life, the queue) and the other worker_*.c share; no one else. */
#ifndef WEFT_WORKER_WORKER_PARTS_H
#define WEFT_WORKER_WORKER_PARTS_H

#include "base/vec.h"
#include "worker/supervisor.h"
#include "worker/worker.h"
#include "worker/worker_child.h"
#include "worker/worker_pace.h"
#include "worker/worker_time.h"
#include "worker/worker_protocol.h"

#include <stdbool.h>

struct table_job {
	struct table_answer answer;
	uint32_t n_pages, n_came;
};

enum job_kind { JOB_SCAN, JOB_TABLE, JOB_RECORDED_TABLE, JOB_HASH };

struct scan_job {
	int fd;
	int err;
	bool done;
	bool is_behind; /* others' go before */
	enum job_kind kind;
	uint64_t cookie;
	uint64_t cpu_ns;		 /* what it took of the parser, about */
	struct elf_info *info;		 /* once it is done, and went well */
	struct table_job *table;	 /* from its first message on */
	struct byte_ranges *byte_ranges; /* HASH: of these */
	struct hash hash;		 /* HASH: once it is done, and went well */
};

struct worker {
	struct supervisor supervisor;
	int sock; /* to the parser; -1 when none could be started */
	int scan_deadline_ms;
	uint64_t names_ns;	      /* that names took of parsers, from the beginning */
	int64_t late_ms;	      /* that went to files which were not done in time */
	struct worker_time scan_time; /* of the oldest scan, since it became that */
	struct pace pace;
	struct worker_counts counts;
	struct table_sink table_sink;
	VEC(struct scan_job) jobs;
	size_t first, answered, sent;
	union protocol_buffer buf;
};

/* How long a file may take: this, or little once too much time went to late ones,
 * since whoever wants to hold us up has as many files as he likes. */
int worker_patience_ms(const struct worker *worker, int deadline_ms);

/* Ends the parser and starts another; 0 or a negative errno. */
int worker_restart(struct worker *worker);

/* Takes answers to scans, ends a parser that is overdue, sends if told to. */
void worker_pump(struct worker *worker, bool send_more);

/* Of a table or a hash. */
int worker_send_table(struct worker *worker, const struct scan_job *job);
void worker_deliver_table(struct worker *worker, struct scan_job *job);
void worker_free_table(struct scan_job *job);
int worker_copy_ranges(const struct byte_ranges *list, struct byte_ranges **ret);
int worker_take_hash(struct worker *worker, struct scan_job *job, size_t n);

/* One message of n bytes in worker->buf, of the answer to a table: 1 when more
 * must come; 0 or the answer's error; -EPROTO: no such answer. */
int worker_take_table(struct worker *worker, struct scan_job *job, size_t n);

/* Until the parser's socket has one of these poll(2) events, the time comes,
 * or a moment has passed. */
void worker_wait(struct worker *worker, short events, int64_t until_ms);

/* An error that the parser claims, as one that can be one. */
static inline int protocol_error(int err)
{
	return err < 0 && err > -4096 && err != -EPROTO ? err : -EBADMSG;
}

#endif
