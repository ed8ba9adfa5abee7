// SPDX-License-Identifier: BSD-2-Clause
#include "publish/tables.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "sym/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define IDLE_NS 5000000000ULL /* longer than the first look may take */

struct tables {
	struct page_allocator *allocator;
	struct files *files;
	const struct module_table *modules;
	struct table_loader *loader;
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
	table_loader_free(tables->loader);
	vec_free(&tables->tables);
	free(tables);
}

const struct table *tables_get(const struct tables *tables, uint32_t module)
{
	const struct table *table =
		module < tables->tables.n ? &tables->tables.items[module] : NULL;

	return table && table->state != TABLE_NEW ? table : NULL;
}

static void give_back(struct tables *tables, struct table *table)
{
	if (table->first)
		page_allocator_release(tables->allocator, table->first, table->n_pages,
				       clock_now_ns());
	table->first = table->n_pages = 0;
}

/* Nobody has come for it: who asked for it is gone. */
static bool is_idle(const struct table *table)
{
	return clock_now_ns() - table->unused_ns > IDLE_NS;
}

/* What no mapping table names, the longest unused first, until n pages were given
 * back; they rest before they can be taken. */
static void make_room(struct tables *tables, uint32_t n)
{
	while (n) {
		struct table *oldest = NULL;

		for (size_t i = 0; i < tables->tables.n; i++) {
			struct table *table = &tables->tables.items[i];

			if (table->state == TABLE_READY && !table->users &&
			    (table->was_named || is_idle(table)) &&
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

/* Out of one of the states that wait. */
static void settle(struct tables *tables, struct table *table, enum table_state state)
{
	if (state != TABLE_READY)
		give_back(tables, table);
	table->state = state;
	table->was_refused = state == TABLE_REFUSED;
	table->settled_ns = table->unused_ns = clock_now_ns();
	tables->counts.ready += state == TABLE_READY;
	tables->counts.refused += state == TABLE_REFUSED;
	tables->sink.changed(tables->sink.arg, (uint32_t)(table - tables->tables.items));
}

/* Of the two that are awaited one is there (outcome READY), or will not come. Once
 * nothing is awaited, what else comes is of no use. */
static void on_piece(struct tables *tables, struct table *table,
		     enum table_state awaits_it, enum table_state outcome)
{
	if (table->state != TABLE_AWAITS_BOTH && table->state != awaits_it)
		return;
	if (outcome == TABLE_READY && table->state == TABLE_AWAITS_BOTH)
		table->state = awaits_it == TABLE_AWAITS_TABLE ? TABLE_AWAITS_METADATA
							       : TABLE_AWAITS_TABLE;
	else
		settle(tables, table, outcome);
}

void tables_on_metadata(struct tables *tables, uint32_t module, bool are_there)
{
	if (module < tables->tables.n)
		on_piece(tables, &tables->tables.items[module], TABLE_AWAITS_METADATA,
			 are_there ? TABLE_READY : TABLE_WITHOUT);
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

	if (table->state != TABLE_AWAITS_BOTH && table->state != TABLE_AWAITS_TABLE)
		return; /* its metadata said that it cannot be used */
	if (!first) {
		give_back(tables, table);
		table->n_pages = pages->head.n_pages;
		table->flags = (pages->head.flags & UNWIND_KEEPS_FP) |
			       next_serial(tables) << UNWIND_SERIAL_SHIFT;
		table->first = page_allocator_alloc(tables->allocator, table->n_pages,
						    clock_now_ns());
		if (!table->first)
			make_room(tables, table->n_pages);
	}
	if (table->first) {
		int err = page_allocator_write(tables->allocator, table->first + first,
					       pages, n);

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
	enum table_state state = TABLE_READY;

	tables->counts.without += err == -ENODATA;
	tables->counts.unreadable += err && err != -ENODATA;
	if (err)
		state = TABLE_WITHOUT;
	else if (!table->first)
		state = TABLE_REFUSED;
	else
		tables->counts.rows += answer->stats.n_rows;
	on_piece(tables, table, TABLE_AWAITS_TABLE, state);
}

/* Asks the workers for what is not known; fd: -1: the file cannot be opened. */
static void ask(struct tables *tables, uint32_t module, int fd, enum table_state awaits)
{
	struct table *table = &tables->tables.items[module];
	bool is_known = table->state != TABLE_NEW, can = fd >= 0;
	int copy = -1;

	*table = (struct table){ .state = awaits, .was_refused = table->was_refused };
	if (can && awaits != TABLE_WITHOUT)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0 && !table_loader_begin(tables->loader, copy, module))
		return;
	tables->counts.unreadable += can && awaits != TABLE_WITHOUT;
	error_clear(); /* one file without a table is no reason to stop */
	table->state = TABLE_WITHOUT;
	table->was_missed = !can;
	table->settled_ns = clock_now_ns();
	if (is_known) /* there are mapping tables that wait for it */
		tables->sink.changed(tables->sink.arg, module);
}

static void ask_vdso(struct tables *tables, uint32_t module)
{
	int vdso = vdso_open();

	if (vdso < 0)
		error_clear(); /* its frames go by frame pointer, unproven */
	ask(tables, module, vdso, TABLE_AWAITS_TABLE);
	if (vdso >= 0)
		close(vdso);
}

static void ask_file(struct tables *tables, uint32_t module)
{
	static const enum table_state awaits[] = {
		[FILE_NEW] = TABLE_WITHOUT,
		[FILE_SCANNING] = TABLE_AWAITS_BOTH,
		[FILE_KNOWN] = TABLE_AWAITS_TABLE,
		[FILE_UNREADABLE] = TABLE_WITHOUT,
	};

	ask(tables, module, files_fd(tables->files, module),
	    awaits[files_state(tables->files, module)]);
}

static bool may_ask(const struct tables *tables, uint32_t module)
{
	const struct table *table = &tables->tables.items[module];

	switch (table->state) {
	case TABLE_NEW:
		return true;
	case TABLE_WITHOUT: /* another process may lead to the file */
		return table->was_missed && files_fd(tables->files, module) >= 0;
	case TABLE_REFUSED: /* what was given back for it has rested */
		return clock_now_ns() - table->settled_ns > PAGE_QUARANTINE_NS;
	default:
		return false;
	}
}

int tables_request(struct tables *tables, const struct process *process,
		   const struct mapping *map)
{
	enum module_kind kind = module_get(tables->modules, map->module)->kind;
	int err = files_request(tables->files, process, map);

	if (kind != MODULE_FILE && kind != MODULE_VDSO)
		return err;
	while (!err && tables->tables.n <= map->module)
		err = vec_push(&tables->tables, (struct table){ 0 });
	if (err || !may_ask(tables, map->module))
		return err;
	if (kind == MODULE_VDSO)
		ask_vdso(tables, map->module);
	else
		ask_file(tables, map->module);
	return 0;
}

int tables_new(struct tables **ret, const struct tables_config *config)
{
	AUTO(tables) tables = calloc(1, sizeof(*tables));
	const struct table_sink sink = { tables, on_pages, on_done, NULL };
	int err;

	if (!tables)
		return fail(-ENOMEM, "no memory for the unwind tables");
	tables->allocator = config->allocator;
	tables->files = config->files;
	tables->modules = config->modules;
	tables->sink = config->sink;
	err = table_loader_new(&tables->loader, config->worker, config->large_file_worker,
			       config->cache, &sink);
	if (err)
		return err;
	*ret = GIVE(tables);
	return 0;
}

void tables_use(struct tables *tables, uint32_t module)
{
	tables->tables.items[module].users++;
	tables->tables.items[module].was_named = true;
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
	ret->pages = page_allocator_used(tables->allocator);
	table_loader_count(tables->loader, &ret->loader);
}

int tables_error(const struct tables *tables)
{
	return tables->err;
}
