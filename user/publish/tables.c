// SPDX-License-Identifier: BSD-2-Clause
#include "publish/tables.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct tables {
	struct heap *heap;
	struct lookup *lookup;
	struct tables_sink sink;
	VEC(struct table) tables; /* by module */
	struct tables_counts counts;
	uint32_t serial; /* the last that was given */
	int err;	 /* of a callback, which has no way to return it */
};

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	lookup_free(tables->lookup);
	vec_free(&tables->tables);
	free(tables);
}

const struct table *tables_get(const struct tables *tables, uint32_t module)
{
	const struct table *table =
		module < tables->tables.n ? &tables->tables.items[module] : NULL;

	return table && table->state != TABLE_NEW ? table : NULL;
}

int tables_want(struct tables *tables, uint32_t module, int fd)
{
	struct table *table;
	int copy, err = 0;

	while (!err && tables->tables.n <= module)
		err = vec_push(&tables->tables, (struct table){ 0 });
	if (err)
		return err;
	table = &tables->tables.items[module];
	if (table->state == TABLE_REFUSED &&
	    clock_now_ns() - table->unused_ns > HEAP_REST_NS)
		table->state = TABLE_NEW;
	if (table->was_missed && fd >= 0)
		table->state = TABLE_NEW;
	if (table->state != TABLE_NEW)
		return 0;
	table->state = TABLE_WITHOUT;
	table->was_missed = fd < 0;
	if (fd < 0)
		return 0;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0 || lookup_begin(tables->lookup, copy, module)) {
		tables->counts.unreadable++;
		error_clear(); /* one file without a table is no reason to stop */
		return 0;
	}
	table->state = TABLE_AWAITED;
	return 0;
}

static void give_back(struct tables *tables, struct table *table)
{
	if (table->first)
		heap_give(tables->heap, table->first, table->n_pages, clock_now_ns());
	table->first = table->n_pages = 0;
}

/* What no space names, the longest unused first, until n pages were given
 * back; they rest before they can be taken. */
static void make_room(struct tables *tables, uint32_t n)
{
	while (n) {
		struct table *oldest = NULL;

		for (size_t i = 0; i < tables->tables.n; i++) {
			struct table *table = &tables->tables.items[i];

			if (table->state == TABLE_READY && !table->users &&
			    (!oldest || table->unused_ns < oldest->unused_ns))
				oldest = table;
		}
		if (!oldest)
			return;
		n -= n < oldest->n_pages ? n : oldest->n_pages;
		give_back(tables, oldest);
		oldest->state = TABLE_NEW;
		tables->counts.taken_back++;
		tables->counts.ready--;
	}
}

static void refuse(struct tables *tables, struct table *table, uint32_t n_pages)
{
	*table = (struct table){ .state = TABLE_REFUSED, .unused_ns = clock_now_ns() };
	tables->counts.refused++;
	make_room(tables, n_pages);
}

/* Never 0, which is none. */
static uint32_t next_serial(struct tables *tables)
{
	tables->serial = (tables->serial + 1) & (UINT32_MAX >> UNWIND_SERIAL_SHIFT);
	return tables->serial ? tables->serial : ++tables->serial;
}

/* Into the kernel as they come; no tick looks there until the table is named. */
static void on_pages(void *arg, uint64_t module, uint32_t first,
		     const union unwind_page *pages, uint32_t n)
{
	struct tables *tables = arg;
	struct table *table = &tables->tables.items[module];

	if (!first) {
		table->n_pages = pages->head.n_pages;
		table->flags = (pages->head.flags & UNWIND_KEEPS_FP) |
			       next_serial(tables) << UNWIND_SERIAL_SHIFT;
		table->first = heap_take(tables->heap, table->n_pages, clock_now_ns());
		if (!table->first)
			refuse(tables, table, table->n_pages);
	}
	if (table->first) {
		int err = heap_write(tables->heap, table->first + first, pages, n);

		if (err) {
			tables->err = err;
			give_back(tables, table);
		}
	}
}

static void on_done(void *arg, uint64_t module, int err,
		    const struct table_answer *answer)
{
	struct tables *tables = arg;
	struct table *table = &tables->tables.items[module];

	if (err || !table->first) {
		give_back(tables, table);
		if (table->state == TABLE_AWAITED)
			table->state = TABLE_WITHOUT;
		tables->counts.without += err == -ENODATA;
		tables->counts.unreadable += err && err != -ENODATA;
	} else {
		table->state = TABLE_READY;
		table->unused_ns = clock_now_ns();
		tables->counts.ready++;
		tables->counts.rows += answer->stats.n_rows;
	}
	tables->sink.changed(tables->sink.arg, (uint32_t)module);
}

int tables_new(struct tables **ret, const struct tables_config *config)
{
	AUTO(tables) tables = calloc(1, sizeof(*tables));
	const struct table_sink sink = { tables, on_pages, on_done, NULL };
	int err;

	if (!tables)
		return fail(-ENOMEM, "no memory for the unwind tables");
	tables->heap = config->heap;
	tables->sink = config->sink;
	err = lookup_new(&tables->lookup, config->worker, config->heavy, config->cache,
			 &sink);
	if (err)
		return err;
	*ret = GIVE(tables);
	return 0;
}

void tables_use(struct tables *tables, uint32_t module)
{
	tables->tables.items[module].users++;
}

void tables_leave(struct tables *tables, uint32_t module, uint64_t now_ns)
{
	struct table *table = &tables->tables.items[module];

	if (!--table->users)
		table->unused_ns = now_ns;
}

void tables_count(const struct tables *tables, struct tables_counts *ret)
{
	*ret = tables->counts;
	ret->pages = heap_used(tables->heap);
	lookup_count(tables->lookup, &ret->lookup);
}

int tables_error(const struct tables *tables)
{
	return tables->err;
}
