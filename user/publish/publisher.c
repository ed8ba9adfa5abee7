// SPDX-License-Identifier: BSD-2-Clause
#include "publish/copies.h"
#include "publish/hotspots.h"

#include "base/error.h"
#include "core/sample.h"

#include <errno.h>

static int new_spaces(struct publisher *p)
{
	const struct mapping_tables_config config = {
		.outside = p->config.outside,
		.allocator = p->allocator,
		.tables = p->tables,
		.files = p->files,
		.all_by_table = p->config.all_by_table,
	};

	return mapping_tables_new(&p->mapping_tables, &config);
}

static int new_tables(struct publisher *p)
{
	struct tables_config config = {
		.outside = p->config.outside,
		.maps = &p->config.maps,
		.all_by_table = p->config.all_by_table,
		.modules = p->config.modules,
		.worker = p->config.worker,
		.large_file_worker = p->config.large_file_worker,
		.opener = p->config.opener,
		.command = p->config.command,
		.cache = p->config.cache,
		.processes = p->processes,
	};
	int err = 0;

	if (p->config.tables)
		err = page_allocator_new(&p->allocator, &p->config.maps,
					 p->config.outside);
	config.allocator = p->allocator;
	if (!err)
		err = tables_new(&p->tables, &config);
	if (err)
		return err;
	p->files = tables_files(p->tables);
	return p->allocator ? new_spaces(p) : 0;
}

void publisher_free(struct publisher *p)
{
	struct process_entry *entry;

	if (!p)
		return;
	for (size_t i = 0; (entry = hmap_next(&p->entries, &i));)
		free(entry);
	hmap_free(&p->entries);
	hmap_free(&p->hidden);
	copies_free(p);
	log_pace_end(&p->pace);
	vec_free(&p->dirty);
	vec_free(&p->provisional);
	vec_free(&p->hotspots);
	vec_free(&p->wanted);
	delays_free(p->delays);
	mapping_tables_free(p->mapping_tables);
	tables_free(p->tables);
	page_allocator_free(p->allocator);
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
	tables_start(p->tables);
}

static void forget(struct publisher *p, uint32_t tgid)
{
	struct process_entry *entry = hmap_remove(&p->entries, tgid);

	if (!entry)
		return;
	if (entry->mapping_table)
		mapping_tables_leave(p->mapping_tables, entry->mapping_table);
	hotspots_forget(p, tgid, entry);
	free(entry);
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct publisher *p = arg;

	publisher_note_place(p, process, map);
	publisher_note_error(p, tables_note(p->tables, process, map));
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
	if (!from || !from->publication || from->published_ns >= time_ns || from->keys ||
	    from->hotspot.is_put || from->version != process_version(child)) {
		publisher_make_dirty(p, child);
		return;
	}
	to->version = from->version;
	to->published_ns = time_ns;
	to->publication = from->publication;
	to->mapping_table = from->mapping_table;
	if (to->mapping_table)
		mapping_tables_share(to->mapping_table);
	p->counts.processes += to->publication == PUBLISHED_KEYS;
}

/* The old image's keys are nobody's now; the identity check guards meanwhile. Of one that
 * was told of, fork.bpf.c has removed them. */
static void on_exec(void *arg, const struct process *process)
{
	struct publisher *p = arg;

	forget(p, process->tgid);
	if (!process->is_told)
		p->config.outside->remove(&p->config.maps, (pid_t)process->tgid);
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
	if (!p->config.outside)
		p->config.outside = &outside_real;
	err = process_table_new(&p->processes, config->modules, &sink);
	if (!err)
		err = delays_new(&p->delays);
	if (!err)
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

#define STALE_NS	20000000ULL
#define STALE_SHIFT_MAX 8

/* A process can change what it is known by (PR_SET_MM_MAP) as often as it likes, and may
 * map so much that each look at it takes long. */
static bool was_read_lately(struct process_entry *entry, uint64_t now_ns)
{
	if (entry->n_stale && now_ns - entry->stale_ns < STALE_NS << entry->n_stale)
		return true;
	entry->stale_ns = now_ns;
	if (entry->n_stale < STALE_SHIFT_MAX)
		entry->n_stale++;
	return false;
}

void publisher_on_stale(struct publisher *p, uint32_t tgid)
{
	const struct process *process = process_get(p->processes, tgid);
	struct process_entry *entry = hmap_get(&p->entries, tgid);

	if (!process || process->ended_ns)
		return;
	p->counts.stale++;
	if (entry && was_read_lately(entry, p->config.outside->now_ns()))
		return;
	/* perhaps it was another's that was read; of a young one it is asked anyway */
	if (entry && (entry->incarnation == INCARNATION_SETTLED ||
		      entry->incarnation == INCARNATION_TOLD)) {
		entry->incarnation = INCARNATION_UNREAD;
		entry->is_doubted = true;
	}
	publisher_make_dirty(p, process);
}

void publisher_on_sample(struct publisher *p, const struct sample_rec *rec)
{
	const struct process *process;

	copies_on_sample(p, rec);
	if (!tables_are_short(p->tables))
		return;
	process = process_get(p->processes, rec->tgid);
	for (unsigned int i = rec->n_kernel; process && i < sample_stack_words(rec);
	     i++) {
		uint64_t word = rec->words[i];
		const struct mapping *map =
			publisher_is_address(word)
				? process_mapping(process, FRAME_ADDR(word))
				: NULL;

		if (map)
			tables_hit(p->tables, map->module, rec->ts_ns);
	}
}

static void recheck_provisional(struct publisher *p)
{
	uint64_t now = p->config.outside->now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < p->provisional.n; i++) {
		uint32_t tgid = p->provisional.items[i];
		const struct process *process = process_get(p->processes, tgid);
		struct process_entry *entry = hmap_get(&p->entries, tgid);
		bool is_provisional = process && now <= process->born_ns + EXEC_NS;

		if (!process || !entry || !process_entry_is_provisional(entry))
			continue;
		if (is_provisional)
			p->provisional.items[kept++] = tgid;
		if (!is_provisional || entry->incarnation == INCARNATION_UNIDENTIFIED)
			publisher_make_dirty(p, process);
		if (!is_provisional)
			entry->incarnation = INCARNATION_UNREAD;
	}
	p->provisional.n = kept;
}

unsigned int publisher_parts(const struct publisher *p)
{
	return p->parts | tables_parts(p->tables) |
	       mapping_tables_parts(p->mapping_tables);
}

bool publisher_is_behind(const struct publisher *p)
{
	return tables_open_more(p->tables);
}

/* Does one start, so that it is to be read in some milliseconds? */
static bool jvm_starts(const struct publisher *p)
{
	for (size_t i = 0; i < p->hotspots.n; i++) {
		const struct process_entry *entry =
			hmap_get(&p->entries, p->hotspots.items[i]);

		if (entry && entry->hotspot.is == HOTSPOT_STARTS)
			return true;
	}
	return false;
}

bool publisher_is_unsure(const struct publisher *p)
{
	return p->provisional.n > 0 || jvm_starts(p);
}

static void recheck_hotspots(struct publisher *p)
{
	uint64_t now = p->hotspots.n ? p->config.outside->now_ns() : 0;
	size_t kept = 0;

	for (size_t i = 0; i < p->hotspots.n; i++) {
		uint32_t tgid = p->hotspots.items[i];
		const struct process *process = process_get(p->processes, tgid);
		const struct process_entry *entry = hmap_get(&p->entries, tgid);

		if (!process || !entry || !hotspot_is_awaited(&entry->hotspot))
			continue;
		p->hotspots.items[kept++] = tgid;
		if (now >= entry->hotspot.again_ns)
			publisher_make_dirty(p, process);
	}
	p->hotspots.n = kept;
}

#define KEYS_REREAD_NS 1000000000ULL

static void recheck_keys(struct publisher *p)
{
	uint64_t now = p->config.outside->now_ns();
	const struct process *process;

	if (!p->counts.too_many_keys || now - p->keys_read_ns < KEYS_REREAD_NS)
		return;
	p->keys_read_ns = now;
	for (size_t i = 0; (process = process_next(p->processes, &i));) {
		const struct process_entry *entry = hmap_get(&p->entries, process->tgid);

		if (entry && entry->keys != KEYS_FIT)
			publisher_make_dirty(p, process);
	}
}

/* Under whichever of its names. */
static bool maps_file(const struct publisher *p, const struct process *process,
		      uint32_t module)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	for (size_t i = 0; i < n; i++)
		if (files_same(p->files, maps[i].module) == module)
			return true;
	return false;
}

/* Pages that were given back have rested by now, perhaps. */
static void ask_for_room_again(struct publisher *p)
{
	uint64_t now = p->config.outside->now_ns();
	unsigned long n_refused =
		p->mapping_tables ? mapping_tables_counts(p->mapping_tables)->refused : 0;
	const struct process *process;

	if (n_refused == p->n_refused || now - p->refused_ns < PAGE_QUARANTINE_NS)
		return;
	p->n_refused = n_refused;
	p->refused_ns = now;
	for (size_t i = 0; (process = process_next(p->processes, &i));) {
		const struct process_entry *entry = hmap_get(&p->entries, process->tgid);

		if (entry && !entry->mapping_table && process_version(process))
			publisher_make_dirty(p, process);
	}
}

static void mark_keyed_dirty(struct publisher *p, uint32_t module)
{
	const struct process *process;

	for (size_t i = 0; (process = process_next(p->processes, &i));)
		if (!process->ended_ns && maps_file(p, process, module))
			publisher_make_dirty(p, process);
}

static int take_news(struct publisher *p)
{
	struct module_news news;
	int err = 0;

	while (!err && tables_next_news(p->tables, &news)) {
		if (news.process_info == NEWS_KEYS)
			mark_keyed_dirty(p, news.module);
		else if (p->mapping_tables)
			err = mapping_tables_update(p->mapping_tables, news.module);
	}
	return err;
}

static int publish_all(struct publisher *p)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < p->dirty.n; i++) {
		uint32_t tgid = p->dirty.items[i];
		const struct process *process = process_get(p->processes, tgid);
		struct process_entry *entry = hmap_get(&p->entries, tgid);
		bool is_there = process && !process->ended_ns;

		if (!entry)
			continue;
		if (is_there && publisher_must_pause(p, process, entry)) {
			p->dirty.items[kept++] = tgid;
			continue;
		}
		entry->is_queued = false;
		if (is_there && !err)
			err = publisher_publish(p, process, entry);
	}
	p->dirty.n = kept;
	return err;
}

/* What is known by now of a module that was mapped. */
static enum delay_state delay_state(void *arg, uint32_t module)
{
	const struct publisher *p = arg;
	const struct table *table = tables_get(p->tables, module);
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
	recheck_hotspots(p);
	ask_for_room_again(p);
	if (!err)
		err = publish_all(p);
	if (!err)
		delays_settle(p->delays, delay_state, p, p->config.outside->now_ns());
	if (!err)
		err = p->err;
	return err ? err : tables_error(p->tables);
}

int publisher_flush(struct publisher *p, const struct wait_limits *limits)
{
	int err = sideband_queue_apply(&p->queue, p->processes), left;

	if (err)
		return err;
	left = collect_answers(&(struct collect_from){ p->tables, p->files,
						       p->config.worker,
						       p->config.large_file_worker },
			       limits ? limits : &(struct wait_limits){ 0 });
	err = left < 0 ? left : flush(p);
	return err ? err : left;
}

void publisher_mark_modules(const struct publisher *p)
{
	struct module_table *modules = p->config.modules;

	process_mark_modules(p->processes);
	files_mark_modules(p->files, modules);
	delays_mark_modules(p->delays, modules);
	tables_mark_modules(p->tables, modules);
	if (p->mapping_tables)
		spaces_mark_modules(p->mapping_tables, modules);
}

void publisher_let_go(struct publisher *p, uint32_t module)
{
	tables_let_go(p->tables, module);
	files_let_go(p->files, module);
}

void publisher_count(const struct publisher *p, struct publisher_counts *ret)
{
	*ret = p->counts;
	tables_count(p->tables, &ret->tables);
	if (p->mapping_tables)
		ret->mapping_tables = *mapping_tables_counts(p->mapping_tables);
	delays_summarize(p->delays, &ret->delays);
}
