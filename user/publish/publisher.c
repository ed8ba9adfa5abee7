// SPDX-License-Identifier: BSD-2-Clause
#include "publish/publisher_parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "publish/collect.h"

#include <errno.h>

static void on_table(void *arg, uint32_t module)
{
	struct publisher *p = arg;

	publisher_note_error(p, vec_push(&p->tabled, module));
}

static void on_elf_info(void *arg, uint32_t module, const struct elf_info *info)
{
	struct publisher *p = arg;

	if (p->tables)
		tables_on_metadata(p->tables, module, info != NULL);
	if (info && (info->n_keys || info->specific_offset))
		publisher_note_error(p, vec_push(&p->keyed, module));
}

static int new_tables(struct publisher *p)
{
	struct tables_config tables = {
		.files = p->files,
		.modules = p->config.modules,
		.worker = p->config.worker,
		.large_file_worker = p->config.large_file_worker,
		.cache = p->config.cache,
		.sink = { p, on_table },
	};
	struct mapping_tables_config mapping_tables = {
		.files = p->files,
		.all_by_table = p->config.all_by_table,
	};
	int err = page_allocator_new(&p->allocator, &p->config.maps);

	tables.allocator = p->allocator;
	if (!err)
		err = tables_new(&p->tables, &tables);
	if (err)
		return err;
	mapping_tables.allocator = p->allocator;
	mapping_tables.tables = p->tables;
	return mapping_tables_new(&p->mapping_tables, &mapping_tables);
}

void publisher_free(struct publisher *p)
{
	struct process_entry *entry;

	if (!p)
		return;
	for (size_t i = 0; (entry = hmap_next(&p->entries, &i));)
		free(entry);
	hmap_free(&p->entries);
	log_pace_end(&p->pace);
	vec_free(&p->dirty);
	vec_free(&p->provisional);
	vec_free(&p->keyed);
	vec_free(&p->tabled);
	delays_free(p->delays);
	mapping_tables_free(p->mapping_tables);
	tables_free(p->tables);
	page_allocator_free(p->allocator);
	files_free(p->files);
	process_table_free(p->processes);
	sideband_queue_free(&p->queue);
	free(p);
}

const struct process_table *publisher_processes(const struct publisher *p)
{
	return p->processes;
}

struct files *publisher_files(struct publisher *p)
{
	return p->files;
}

void publisher_started(struct publisher *p, uint64_t now_ns)
{
	delays_begin(p->delays, now_ns);
}

static void forget(struct publisher *p, uint32_t tgid)
{
	struct process_entry *entry = hmap_remove(&p->entries, tgid);

	if (!entry)
		return;
	if (entry->mapping_table)
		mapping_tables_leave(p->mapping_tables, entry->mapping_table);
	free(entry);
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct publisher *p = arg;

	publisher_note_error(p, p->tables ? tables_request(p->tables, process, map)
					  : files_request(p->files, process, map));
	if (!map->is_jit)
		publisher_note_error(p, delays_add(p->delays, map));
	publisher_make_dirty(p, process);
}

/* What was published of a parent before the fork, fork.bpf.c has copied. */
static void on_forked(void *arg, const struct process *child,
		      const struct process *parent, uint64_t time_ns)
{
	struct publisher *p = arg;
	struct process_entry *from = parent ? hmap_get(&p->entries, parent->tgid) : NULL,
			     *to;

	forget(p, child->tgid);
	to = publisher_entry(p, child);
	if (!to)
		return;
	if (!from || !from->published_ns || from->published_ns >= time_ns ||
	    from->has_too_many_keys || from->version != process_version(child)) {
		publisher_make_dirty(p, child);
		return;
	}
	to->version = from->version;
	to->published_ns = time_ns;
	to->has_keys = from->has_keys;
	to->mapping_table = from->mapping_table;
	if (to->mapping_table)
		mapping_tables_share(to->mapping_table);
	p->counts.processes += to->has_keys;
}

/* The old image's keys are nobody's now; the identity check guards meanwhile. */
static void on_exec(void *arg, const struct process *process)
{
	struct publisher *p = arg;

	forget(p, process->tgid);
	publish_maps_remove_process(&p->config.maps, (pid_t)process->tgid);
}

/* Of processes that end the kernel's half forgets by itself. */
static void on_ended(void *arg, const struct process *process)
{
	forget(arg, process->tgid);
}

int publisher_new(struct publisher **ret, const struct publisher_config *config)
{
	AUTO(publisher) p = calloc(1, sizeof(*p));
	const struct process_sink sink = {
		.arg = p,
		.mapped = on_mapped,
		.forked = on_forked,
		.exec = on_exec,
		.ended = on_ended,
	};
	int err;

	if (!p)
		return fail(-ENOMEM, "no memory for what is published");
	p->config = *config;
	err = process_table_new(&p->processes, config->modules, &sink);
	if (!err)
		err = files_new(&p->files, config->worker, config->modules, on_elf_info,
				p);
	if (!err)
		err = delays_new(&p->delays);
	if (!err && config->tables)
		err = new_tables(p);
	if (err)
		return err;
	*ret = GIVE(p);
	return 0;
}

int publisher_enqueue(struct publisher *p, const void *record, size_t bytes)
{
	return sideband_queue_add(&p->queue, record, bytes);
}

void publisher_on_stale(struct publisher *p, uint32_t tgid)
{
	const struct process *process = process_get(p->processes, tgid);
	struct process_entry *entry = hmap_get(&p->entries, tgid);

	if (!process || process->ended_ns)
		return;
	p->counts.stale++;
	if (entry) /* perhaps it was another incarnation's that was read */
		entry->is_known = false;
	publisher_make_dirty(p, process);
}

static void recheck_provisional(struct publisher *p)
{
	uint64_t now = clock_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < p->provisional.n; i++) {
		uint32_t tgid = p->provisional.items[i];
		const struct process *process = process_get(p->processes, tgid);
		struct process_entry *entry = hmap_get(&p->entries, tgid);

		if (!process || !entry || !entry->is_provisional)
			continue;
		entry->is_provisional = now <= process->born_ns + EXEC_NS;
		if (entry->is_provisional)
			p->provisional.items[kept++] = tgid;
		if (!entry->is_provisional || entry->is_unidentified)
			publisher_make_dirty(p, process);
	}
	p->provisional.n = kept;
}

bool publisher_is_unsure(const struct publisher *p)
{
	return p->provisional.n > 0;
}

#define KEYS_REREAD_NS 1000000000ULL

static void recheck_keys(struct publisher *p)
{
	uint64_t now = clock_now_ns();
	const struct process *process;

	if (!p->counts.too_many_keys || now - p->keys_read_ns < KEYS_REREAD_NS)
		return;
	p->keys_read_ns = now;
	for (size_t i = 0; (process = process_next(p->processes, &i));) {
		const struct process_entry *entry = hmap_get(&p->entries, process->tgid);

		if (entry && entry->has_too_many_keys)
			publisher_make_dirty(p, process);
	}
}

static void mark_keyed_dirty(struct publisher *p, uint32_t module)
{
	const struct process *process;

	for (size_t i = 0; (process = process_next(p->processes, &i));)
		if (!process->ended_ns && process_maps_module(process, module))
			publisher_make_dirty(p, process);
}

static int take_news(struct publisher *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->tabled.n; i++)
		err = mapping_tables_update(p->mapping_tables, p->tabled.items[i]);
	for (size_t i = 0; i < p->keyed.n; i++)
		mark_keyed_dirty(p, p->keyed.items[i]);
	p->tabled.n = p->keyed.n = 0;
	return err;
}

static int publish_all(struct publisher *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->dirty.n; i++) {
		const struct process *process =
			process_get(p->processes, p->dirty.items[i]);
		struct process_entry *entry = hmap_get(&p->entries, p->dirty.items[i]);

		if (!entry)
			continue;
		entry->dirty = false;
		if (process && !process->ended_ns)
			err = publisher_publish(p, process, entry);
	}
	p->dirty.n = 0;
	return err;
}

/* What is known by now of a module that was mapped. */
static enum delay_state delay_state(void *arg, uint32_t module)
{
	const struct publisher *p = arg;
	const struct table *table = p->tables ? tables_get(p->tables, module) : NULL;
	const struct elf_info *info = files_elf_info(p->files, module);

	if (files_state(p->files, module) == FILE_SCANNING ||
	    (table && table_is_awaited(table)))
		return DELAY_WAITS;
	return info && info->n_keys ? DELAY_OVER_KEYED : DELAY_OVER;
}

static int flush(struct publisher *p)
{
	int err = take_news(p);

	recheck_provisional(p);
	recheck_keys(p);
	if (!err)
		err = publish_all(p);
	if (!err)
		delays_settle(p->delays, delay_state, p, clock_now_ns());
	if (!err)
		err = p->err;
	return err || !p->tables ? err : tables_error(p->tables);
}

int publisher_flush(struct publisher *p, int wait_ms)
{
	int err = sideband_queue_apply(&p->queue, p->processes), left;

	if (err)
		return err;
	left = collect_answers(&(struct collect_from){ p->files, p->config.worker,
						       p->config.large_file_worker },
			       wait_ms);
	err = left < 0 ? left : flush(p);
	return err ? err : left;
}

void publisher_count(const struct publisher *p, struct publisher_counts *ret)
{
	*ret = p->counts;
	if (p->tables)
		tables_count(p->tables, &ret->tables);
	if (p->mapping_tables)
		ret->mapping_tables = *mapping_tables_counts(p->mapping_tables);
	delays_summarize(p->delays, &ret->delays);
}
