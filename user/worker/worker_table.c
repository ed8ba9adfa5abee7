// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables from the parse worker, and the hashes by which one that was made
 * before is known again. Only sizes are checked: whatever the pages hold, a tick
 * masks what it reads of them.
 */
#include "worker/worker_parts.h"

#include "unwind/unwind_head.h"

#include <errno.h>
#include <sys/socket.h>
#include <string.h>

/* 1, or a negative errno. */
int worker_copy_ranges(const struct byte_ranges *list, struct byte_ranges **ret)
{
	size_t n = byte_ranges_size(list->n);

	*ret = malloc(n);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, list, n);
	return 1;
}

/* The first message: how many pages will come, and what they are made of. */
static int take_stats(struct worker *worker, struct scan_job *job, size_t n)
{
	const struct protocol_table *message = &worker->buf.table;
	const size_t before = offsetof(struct protocol_table, byte_ranges);

	if (n < sizeof(message->head) || message->head.kind != PROTOCOL_TABLED)
		return -EPROTO;
	if (message->head.err)
		return protocol_error(message->head.err);
	if (n < before || !byte_ranges_valid(&message->byte_ranges, n - before) ||
	    message->head.count < 2 || message->head.count > UNWIND_PAGES_MAX)
		return -EPROTO;
	job->table = calloc(1, sizeof(*job->table));
	if (!job->table)
		return -ENOMEM;
	job->table->n_pages = message->head.count;
	job->table->answer.stats = message->stats;
	job->table->answer.hash = message->hash;
	return job->kind == JOB_RECORDED_TABLE && message->byte_ranges.n
		       ? worker_copy_ranges(&message->byte_ranges,
					    &job->table->answer.byte_ranges)
		       : 1;
}

static int take_pages(struct worker *worker, struct scan_job *job, size_t n)
{
	const struct protocol_pages *message = &worker->buf.pages;
	const struct table_sink *sink = &worker->table_sink;
	struct table_job *table = job->table;
	uint32_t count = message->head.count;

	if (n < sizeof(message->head) || message->head.kind != PROTOCOL_PAGES ||
	    message->head.err || !count || count > PROTOCOL_PAGES_MAX ||
	    count > table->n_pages - table->n_came ||
	    n != sizeof(message->head) + count * sizeof(message->pages[0]))
		return -EPROTO;
	if (!table->n_came) {
		if (!unwind_head_holds(&message->pages[0].head, table->n_pages))
			return -EPROTO;
		table->answer.head = message->pages[0].head;
	}
	if (sink->pages)
		sink->pages(sink->arg, job->cookie, table->n_came, message->pages, count);
	table->n_came += count;
	return table->n_came < table->n_pages;
}

int worker_take_table(struct worker *worker, struct scan_job *job, size_t n)
{
	return job->table ? take_pages(worker, job, n) : take_stats(worker, job, n);
}

int worker_take_hash(struct worker *worker, struct scan_job *job, size_t n)
{
	const struct protocol_hash *message = &worker->buf.hash;

	if (n < sizeof(message->head) || message->head.kind != PROTOCOL_HASHED)
		return -EPROTO;
	if (message->head.err)
		return protocol_error(message->head.err);
	if (n != sizeof(*message))
		return -EPROTO;
	job->hash = message->hash;
	return 0;
}

void worker_free_table(struct scan_job *job)
{
	if (job->table)
		free(job->table->answer.byte_ranges);
	free(job->table);
	free(job->byte_ranges);
	job->table = NULL;
	job->byte_ranges = NULL;
}

int worker_send_table(struct worker *worker, const struct scan_job *job)
{
	struct protocol_hash_request *request = &worker->buf.ask_hash;
	size_t n = sizeof(request->request);

	request->request = (struct protocol_request){
		.kind = job->kind == JOB_HASH ? PROTOCOL_HASH : PROTOCOL_TABLE,
		.n = job->kind == JOB_RECORDED_TABLE,
	};
	if (job->kind == JOB_HASH) {
		n = byte_ranges_size(job->byte_ranges->n);
		memcpy(&request->list, job->byte_ranges, n);
		n += offsetof(struct protocol_hash_request, list);
	}
	return protocol_send(worker->sock, request, n, job->fd, MSG_DONTWAIT);
}

void worker_set_table_sink(struct worker *worker, const struct table_sink *sink)
{
	worker->table_sink = *sink;
}

void worker_deliver_table(struct worker *worker, struct scan_job *job)
{
	const struct table_sink *sink = &worker->table_sink;
	static const struct table_answer nothing;

	if (job->kind == JOB_HASH && sink->hashed)
		sink->hashed(sink->arg, job->cookie, job->err, &job->hash,
			     GIVE_FD(job->fd));
	if (job->kind != JOB_HASH && sink->done)
		sink->done(sink->arg, job->cookie, job->err,
			   job->err ? &nothing : &job->table->answer);
}
