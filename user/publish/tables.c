// SPDX-License-Identifier: BSD-2-Clause
#include "publish/tables_parts.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* Of a table that a mapping has, too. */
#define FILE_FLAGS                                                                       \
	(UNWIND_KEEPS_FP | UNWIND_CALLS | UNWIND_LUAJIT | UNWIND_HOST |                  \
	 UNWIND_HOST_OF_FILES)

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	table_loader_free(tables->loader);
	turns_free(tables->noted);
	for (int i = 0; i < N_SIZES; i++)
		turns_free(tables->turns[i]);
	files_free(tables->files);
	vec_free(&tables->news);
	vec_free(&tables->tables);
	free(tables);
}

const struct table *tables_get(const struct tables *tables, uint32_t module)
{
	const struct table *table = tables_of(tables, module);

	return table && table->state != TABLE_NEW ? table : NULL;
}

unsigned int tables_parts(const struct tables *tables)
{
	return tables->parts;
}

struct files *tables_files(const struct tables *tables)
{
	return tables->files;
}

bool tables_next_news(struct tables *tables, struct module_news *ret)
{
	if (tables->n_taken == tables->news.n) {
		tables->n_taken = tables->news.n = 0;
		return false;
	}
	*ret = tables->news.items[tables->n_taken++];
	return true;
}

/* Out of one of the states that wait. */
static void settle(struct tables *tables, struct table *table, enum table_state state)
{
	uint32_t module = (uint32_t)(table - tables->tables.items);

	if (state != TABLE_READY)
		tables_give_back(tables, table);
	table->state = state;
	table->was_refused = state == TABLE_REFUSED;
	table->settled_ns = table->unused_ns = tables->outside->now_ns();
	tables->counts.ready += state == TABLE_READY;
	if (state == TABLE_READY) {
		tables->parts |= table->flags & UNWIND_LUAJIT ? PART_LUAJIT : 0;
		tables_tell(tables, table);
	}
	tables->counts.refused += state == TABLE_REFUSED;
	/* of what was generated nobody asks for names, and another copy is easily had */
	if (module_get(tables->modules, module)->kind == MODULE_COPY)
		files_close(tables->files, module);
	tables_add_news(tables, module, NEWS_TABLE);
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

void tables_tell_keys(struct tables *tables, uint32_t module, const struct elf_info *info)
{
	if (info && (info->n_keys || info->specific_offset || info->context.access))
		tables_add_news(tables, module, NEWS_KEYS);
}

static void on_metadata(void *arg, uint32_t module, const struct elf_info *info)
{
	struct tables *tables = arg;
	struct table *table = tables_of(tables, module);
	enum table_state state = TABLE_READY;

	if (!info || !tables->loader)
		state = TABLE_WITHOUT;
	if (table) {
		tables->n_jobs[table->size]--;
		on_piece(tables, table, TABLE_AWAITS_METADATA, state);
	}
	tables_tell_keys(tables, module, info);
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
		tables_give_back(tables, table);
		table->n_pages = pages->head.n_pages;
		table->flags = (pages->head.flags & FILE_FLAGS) |
			       next_serial(tables) << UNWIND_SERIAL_SHIFT;
		table->hosted = pages->head.hosted;
		table->first = tables_take(tables, table);
	}
	if (table->first) {
		int err = page_allocator_write(tables->allocator, table->first + first,
					       pages, n);

		if (err) {
			tables_note_error(tables, err);
			tables_give_back(tables, table);
		}
	}
}

static void count_rows(struct tables *tables, const struct unwind_stats *stats)
{
	tables->counts.rows += stats->n_rows;
	tables->counts.unread += stats->unread_bytes != 0;
}

static void on_done(void *arg, uint64_t module, int err,
		    const struct table_answer *answer)
{
	struct tables *tables = arg;
	struct table *table = &tables->tables.items[module];
	enum table_state state = TABLE_READY;

	table->is_asked_for = false;
	tables->n_jobs[table->size]--;
	tables->counts.without += err == -ENODATA;
	tables->counts.unreadable += err && err != -ENODATA;
	if (err)
		state = TABLE_WITHOUT;
	else if (!table->first)
		state = TABLE_REFUSED;
	else
		count_rows(tables, &answer->stats);
	on_piece(tables, table, TABLE_AWAITS_TABLE, state);
}

static void on_took(void *arg, uint64_t module, uint64_t cpu_ns)
{
	struct tables *tables = arg;
	const struct table *table = tables_of(tables, (uint32_t)module);

	if (table)
		budgets_charge(files_budgets(tables->files), table->payer, cpu_ns,
			       tables->outside->now_ns());
}

static bool is_behind(void *arg, uint64_t module)
{
	const struct table *table = tables_of(arg, (uint32_t)module);

	return table && table->is_behind;
}

int tables_new(struct tables **ret, const struct tables_config *config)
{
	AUTO(tables) tables = calloc(1, sizeof(*tables));
	const struct table_sink sink = { tables, on_pages, on_done,
					 NULL,	 on_took,  is_behind };
	const struct files_config files = {
		.worker = config->worker,
		.opener = config->opener,
		.cache = config->cache,
		.modules = config->modules,
		.source = &config->outside->files,
		.command = config->command,
		.sink = on_metadata,
		.arg = tables,
	};
	int err;

	if (!tables)
		return fail(-ENOMEM, "no memory for the unwind tables");
	tables->outside = config->outside;
	tables->maps = config->maps;
	tables->all_by_table = config->all_by_table;
	tables->allocator = config->allocator;
	tables->modules = config->modules;
	tables->processes = config->processes;
	err = files_new(&tables->files, &files);
	if (!err)
		err = turns_new(&tables->noted, files_budgets(tables->files));
	for (int i = 0; !err && i < N_SIZES; i++)
		err = turns_new(&tables->turns[i], files_budgets(tables->files));
	if (!err && tables->allocator)
		err = table_loader_new(&tables->loader, config->worker,
				       config->large_file_worker, config->cache, &sink);
	if (err)
		return err;
	*ret = GIVE(tables);
	return 0;
}

void tables_use(struct tables *tables, uint32_t module)
{
	struct table *table = tables_of(tables, module);

	table->users++;
	table->was_named = true;
}

void tables_leave(struct tables *tables, uint32_t module, uint64_t now_ns)
{
	struct table *table = tables_of(tables, module);

	if (--table->users)
		return;
	table->unused_ns = now_ns;
	if (table->state != TABLE_LEAVING)
		return;
	tables_give_back(tables, table);
	table->state = TABLE_NEW;
}

void tables_hit(struct tables *tables, uint32_t module, uint64_t now_ns)
{
	struct table *table = tables_of(tables, module);

	if (table && table->hit_ns < now_ns)
		table->hit_ns = now_ns;
}

/* A file that is merely noted is nobody's if no process maps it any more. */
static bool is_under_way(const struct table *table)
{
	return table->state != TABLE_NOTED && table_is_awaited(table);
}

void tables_mark_modules(const struct tables *tables, struct module_table *modules)
{
	for (uint32_t id = 0; id < tables->tables.n; id++)
		if (tables->tables.items[id].users ||
		    tables->tables.items[id].is_asked_for ||
		    is_under_way(&tables->tables.items[id]))
			module_mark(modules, id);
	for (size_t i = tables->n_taken; i < tables->news.n; i++)
		module_mark(modules, tables->news.items[i].module);
}

void tables_let_go(struct tables *tables, uint32_t module)
{
	struct table *table;

	if (module >= tables->tables.n)
		return;
	table = &tables->tables.items[module];
	tables->counts.ready -= table->state == TABLE_READY;
	tables_take_word_back(tables, table);
	tables_give_back(tables, table);
	*table = (struct table){ .state = TABLE_NEW };
}

void tables_count(const struct tables *tables, struct tables_counts *ret)
{
	*ret = tables->counts;
	if (!tables->loader)
		return;
	ret->pages = page_allocator_used(tables->allocator);
	table_loader_count(tables->loader, &ret->loader);
}

int tables_error(const struct tables *tables)
{
	return tables->err;
}
