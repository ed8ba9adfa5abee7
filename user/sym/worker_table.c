// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables from the parse worker. Only sizes are checked: whatever the
 * pages hold, a tick masks what it reads of them.
 */
#include "sym/worker_parts.h"

#include <errno.h>
#include <string.h>

/* A part of the table: does it lie behind the page and within the table? */
static bool part_holds(uint32_t page, uint32_t n, size_t a_page, uint32_t end)
{
	return page <= end && (n + a_page - 1) / a_page <= end - page;
}

static bool head_holds(const struct unwind_head *head, uint32_t n_pages)
{
	return head->n_pages == n_pages && head->rules_page && head->n_rules &&
	       part_holds(head->rules_page, head->n_rules, UNWIND_RULES_A_PAGE,
			  head->blocks_page) &&
	       part_holds(head->blocks_page, head->n_blocks, UNWIND_BLOCKS_A_PAGE,
			  head->rows_page) &&
	       head->rows_page <= n_pages && head->text % UNWIND_BLOCK_BYTES == 0;
}

/* The first message: how many pages will come, and what they are made of. */
static int take_stats(struct worker *worker, struct scan_job *job, size_t n)
{
	const struct wire_table *message = &worker->buf.table;

	if (n < sizeof(message->head) || message->head.kind != WIRE_TABLED)
		return -EPROTO;
	if (message->head.err)
		return wire_error(message->head.err);
	if (n != sizeof(*message) || message->head.count < 2 ||
	    message->head.count > UNWIND_PAGES_MOST)
		return -EPROTO;
	job->table = calloc(1, sizeof(*job->table));
	if (!job->table)
		return -ENOMEM;
	job->table->n_pages = message->head.count;
	job->table->stats = message->stats;
	return 1;
}

static int take_pages(struct worker *worker, struct scan_job *job, size_t n)
{
	const struct wire_pages *message = &worker->buf.pages;
	const struct table_sink *sink = &worker->table_sink;
	struct table_answer *table = job->table;
	uint32_t count = message->head.count;

	if (n < sizeof(message->head) || message->head.kind != WIRE_PAGES ||
	    message->head.err || !count || count > WIRE_PAGES_MOST ||
	    count > table->n_pages - table->n_came ||
	    n != sizeof(message->head) + count * sizeof(message->pages[0]))
		return -EPROTO;
	if (!table->n_came) {
		if (!head_holds(&message->pages[0].head, table->n_pages))
			return -EPROTO;
		table->head = message->pages[0].head;
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
