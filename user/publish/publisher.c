// SPDX-License-Identifier: BSD-2-Clause
#include "publish/publisher_parts.h"

#include "base/error.h"
#include "publish/collect.h"

#include <errno.h>

static int new_spaces(struct publisher *p)
{
	const struct spaces_config config = {
		.outside = p->config.outside,
		.heap = p->heap,
		.tables = p->tables,
		.files = p->files,
		.all_by_table = p->config.all_by_table,
	};

	return spaces_new(&p->spaces, &config);
}

static int new_tables(struct publisher *p)
{
	struct tables_config config = {
		.outside = p->config.outside,
		.modules = p->config.modules,
		.worker = p->config.worker,
		.heavy = p->config.heavy,
		.cache = p->config.cache,
	};
	int err = 0;

	if (p->config.tables)
		err = heap_new(&p->heap, &p->config.maps, p->config.outside);
	config.heap = p->heap;
	if (!err)
		err = tables_new(&p->tables, &config);
	if (err)
		return err;
	p->files = tables_files(p->tables);
	return p->heap ? new_spaces(p) : 0;
}

void publisher_free(struct publisher *p)
{
	struct told *told;

	if (!p)
		return;
	for (size_t i = 0; (told = hmap_next(&p->told, &i));)
		free(told);
	hmap_free(&p->told);
	log_pace_end(&p->pace);
	vec_free(&p->dirty);
	vec_free(&p->young);
	delays_free(p->delays);
	spaces_free(p->spaces);
	tables_free(p->tables);
	heap_free(p->heap);
	process_table_free(p->processes);
	heard_free(&p->heard);
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
	struct told *told = hmap_remove(&p->told, tgid);

	if (!told)
		return;
	if (told->space)
		spaces_leave(p->spaces, told->space);
	free(told);
}

static void on_mapped(void *arg, const struct process *process, const struct mapping *map)
{
	struct publisher *p = arg;

	publisher_note_error(p, tables_want(p->tables, process, map));
	if (!map->is_jit)
		publisher_note_error(p, delays_add(p->delays, map));
	publisher_make_dirty(p, process);
}

/* Whoever was told about before the fork has passed it on in the kernel. */
static void on_forked(void *arg, const struct process *child,
		      const struct process *parent, uint64_t time_ns)
{
	struct publisher *p = arg;
	struct told *from = parent ? hmap_get(&p->told, parent->tgid) : NULL, *to;

	forget(p, child->tgid);
	to = publisher_told(p, child);
	if (!to)
		return;
	if (!from || !from->publication || from->told_ns >= time_ns || from->keys ||
	    from->version != process_version(child)) {
		publisher_make_dirty(p, child);
		return;
	}
	to->version = from->version;
	to->told_ns = time_ns;
	to->publication = from->publication;
	to->space = from->space;
	if (to->space)
		spaces_share(to->space);
	p->counts.processes += to->publication == PUBLISHED_KEYS;
}

/* The old image's keys are nobody's now; the identity check guards meanwhile. */
static void on_exec(void *arg, const struct process *process)
{
	struct publisher *p = arg;

	forget(p, process->tgid);
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

int publisher_hear(struct publisher *p, const void *record, size_t bytes)
{
	return heard_add(&p->heard, record, bytes);
}

void publisher_on_stale(struct publisher *p, uint32_t tgid)
{
	const struct process *process = process_get(p->processes, tgid);
	struct told *told = hmap_get(&p->told, tgid);

	if (!process || process->ended_ns)
		return;
	p->counts.stale++;
	/* perhaps it was another's that was read; of a young one it is asked anyway */
	if (told && told->incarnation == INCARNATION_SETTLED)
		told->incarnation = INCARNATION_UNREAD;
	publisher_make_dirty(p, process);
}

static bool is_address(uint64_t word)
{
	switch (FRAME_KIND(word)) {
	case FRAME_USER:
	case FRAME_UNPROVEN:
	case FRAME_CALLER:
	case FRAME_ASYNC:
		return true;
	default:
		return false;
	}
}

void publisher_on_sample(struct publisher *p, const struct sample_rec *rec)
{
	const struct process *process;

	if (!tables_are_short(p->tables))
		return;
	process = process_get(p->processes, rec->tgid);
	for (unsigned int i = rec->n_kernel; process && i < rec->n_words; i++) {
		uint64_t word = rec->words[i];
		const struct mapping *map =
			is_address(word) ? process_mapping(process, FRAME_ADDR(word))
					 : NULL;

		if (map)
			tables_hit(p->tables, map->module, rec->ts_ns);
	}
}

static void ask_the_young_again(struct publisher *p)
{
	uint64_t now = p->config.outside->now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < p->young.n; i++) {
		uint32_t tgid = p->young.items[i];
		const struct process *process = process_get(p->processes, tgid);
		struct told *told = hmap_get(&p->told, tgid);
		bool is_young = process && now <= process->born_ns + EXEC_NS;

		if (!process || !told || !told_is_young(told))
			continue;
		if (is_young)
			p->young.items[kept++] = tgid;
		if (!is_young || told->incarnation == INCARNATION_UNCLEAR)
			publisher_make_dirty(p, process);
		if (!is_young)
			told->incarnation = INCARNATION_UNREAD;
	}
	p->young.n = kept;
}

bool publisher_is_unsure(const struct publisher *p)
{
	return p->young.n > 0;
}

#define CROWDED_PACE_NS 1000000000ULL

static void ask_the_crowded_again(struct publisher *p)
{
	uint64_t now = p->config.outside->now_ns();
	const struct process *process;

	if (!p->counts.crowded || now - p->crowded_ns < CROWDED_PACE_NS)
		return;
	p->crowded_ns = now;
	for (size_t i = 0; (process = process_next(p->processes, &i));) {
		const struct told *told = hmap_get(&p->told, process->tgid);

		if (told && told->keys != KEYS_FIT)
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
	unsigned long n_refused = p->spaces ? spaces_counts(p->spaces)->refused : 0;
	const struct process *process;

	if (n_refused == p->n_refused || now - p->refused_ns < HEAP_REST_NS)
		return;
	p->n_refused = n_refused;
	p->refused_ns = now;
	for (size_t i = 0; (process = process_next(p->processes, &i));) {
		const struct told *told = hmap_get(&p->told, process->tgid);

		if (told && !told->space && process_version(process))
			publisher_make_dirty(p, process);
	}
}

static void tell_of_keys(struct publisher *p, uint32_t module)
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
		if (news.what == NEWS_KEYS)
			tell_of_keys(p, news.module);
		else if (p->spaces)
			err = spaces_update(p->spaces, news.module);
	}
	return err;
}

static int tell_all(struct publisher *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->dirty.n; i++) {
		const struct process *process =
			process_get(p->processes, p->dirty.items[i]);
		struct told *told = hmap_get(&p->told, p->dirty.items[i]);

		if (!told)
			continue;
		told->is_queued = false;
		if (process && !process->ended_ns)
			err = publisher_tell(p, process, told);
	}
	p->dirty.n = 0;
	return err;
}

/* What is known by now of a module that was mapped. */
static enum delay_state delay_state(void *arg, uint32_t module)
{
	const struct publisher *p = arg;
	const struct table *table = tables_get(p->tables, module);
	const struct elf_facts *facts = files_facts(p->files, module);

	if (files_state(p->files, module) == FILE_SCANNING ||
	    (table && table_is_awaited(table)))
		return DELAY_WAITS;
	return facts && facts->n_keys ? DELAY_OVER_KEYED : DELAY_OVER;
}

static int flush(struct publisher *p)
{
	int err = take_news(p);

	ask_the_young_again(p);
	ask_the_crowded_again(p);
	ask_for_room_again(p);
	if (!err)
		err = tell_all(p);
	if (!err)
		delays_settle(p->delays, delay_state, p, p->config.outside->now_ns());
	if (!err)
		err = p->err;
	return err ? err : tables_error(p->tables);
}

int publisher_flush(struct publisher *p, int wait_ms)
{
	int err = heard_apply(&p->heard, p->processes), left;

	if (err)
		return err;
	left = collect_answers(&(struct collect_from){ p->tables, p->files,
						       p->config.worker,
						       p->config.heavy },
			       wait_ms);
	err = left < 0 ? left : flush(p);
	return err ? err : left;
}

void publisher_count(const struct publisher *p, struct publisher_counts *ret)
{
	*ret = p->counts;
	tables_count(p->tables, &ret->tables);
	if (p->spaces)
		ret->spaces = *spaces_counts(p->spaces);
	delays_summarize(p->delays, &ret->delays);
}
