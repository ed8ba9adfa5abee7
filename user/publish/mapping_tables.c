// SPDX-License-Identifier: BSD-2-Clause
#include "publish/mapping_tables.h"

#include "base/error.h"
#include "base/search.h"
#include "base/hmap.h"
#include "shared/knobs.h"

#include <errno.h>
#include <string.h>

struct mapping_entry {
	struct unwind_mapping mapping;
	uint64_t pgoff;
	uint32_t module;
	bool is_jit, is_copy, uses_table;
};

struct mapping_tables {
	struct mapping_tables_config config;
	struct hmap by_version;
	uint32_t generations;
	unsigned int parts; /* mapping_tables_parts() */
	struct mapping_tables_counts counts;
};

int mapping_tables_new(struct mapping_tables **ret,
		       const struct mapping_tables_config *config)
{
	struct mapping_tables *all = calloc(1, sizeof(*all));

	if (!all)
		return fail(-ENOMEM, "no memory for what processes map");
	all->config = *config;
	*ret = all;
	return 0;
}

static void mapping_table_free(struct mapping_table *mapping_table)
{
	if (mapping_table)
		free(mapping_table->entries);
	free(mapping_table);
}

unsigned int mapping_tables_parts(const struct mapping_tables *all)
{
	return all ? all->parts : 0;
}

void mapping_tables_free(struct mapping_tables *all)
{
	struct mapping_table *mapping_table;

	if (!all)
		return;
	for (size_t i = 0; (mapping_table = hmap_next(&all->by_version, &i));)
		mapping_table_free(mapping_table);
	hmap_free(&all->by_version);
	free(all);
}

/* Address minus address as linked, once the file's segments are known; false: not known,
 * or the mapping is of none of them. */
static bool find_bias(const struct mapping_tables *all, struct mapping_entry *entry)
{
	const struct elf_info *info = files_elf_info(all->config.files, entry->module);
	uint64_t vaddr =
		entry->pgoff; /* the vDSO's are its offsets, a copy's addresses */

	if (entry->module != MODULE_ID_VDSO && !entry->is_copy &&
	    (!info || !elf_vaddr_of_mapping(info, entry->pgoff, &vaddr)))
		return false;
	entry->mapping.bias = entry->mapping.start - vaddr;
	return true;
}

static const struct table *ready_table(const struct mapping_tables *all,
				       const struct mapping_entry *entry)
{
	const struct table *table =
		entry->is_jit && !entry->is_copy
			? NULL
			: tables_get(all->config.tables, entry->module);

	return table && table->state == TABLE_READY ? table : NULL;
}

static bool goes_by_fp(const struct mapping_tables *all,
		       const struct mapping_entry *entry)
{
	const struct table *table = tables_get(all->config.tables, entry->module);

	return entry->is_jit || (table && table->state == TABLE_WITHOUT);
}

/* What an entry says while its module is in the state that it is in. One for whose
 * table there is no room stays awaited: its code may keep anything as frame pointer. */
static void fill_entry(const struct mapping_tables *all, struct mapping_entry *entry)
{
	const struct table *table = ready_table(all, entry);

	if (entry->uses_table)
		return;
	entry->mapping.flags = goes_by_fp(all, entry) ? UNWIND_BY_FP : 0;
	if (!table)
		return;
	if (!find_bias(all, entry)) { /* of its file, but in no segment */
		entry->mapping.flags = UNWIND_BY_FP;
		return;
	}
	entry->mapping.table = table->first;
	entry->mapping.flags = entry->is_copy ? UNWIND_COPIED : table->flags;
	if (all->config.all_by_table)
		entry->mapping.flags &= ~(uint32_t)UNWIND_KEEPS_FP;
	entry->uses_table = true;
	tables_use(all->config.tables, entry->module);
}

#define BESIDE (UNWIND_LUAJIT | UNWIND_HOST | UNWIND_HOST_OF_FILES)

/* Generated code belongs to what lies beside it: LuaJIT's interpreter, or a host, which
 * may run files' code as well: that uses the frame pointer for something else. */
static void fill_entries(struct mapping_tables *all, struct mapping_table *mapping_table)
{
	unsigned int beside = 0;

	mapping_table->host = 0;
	for (uint32_t i = 0; i < mapping_table->n_mappings; i++) {
		struct mapping_entry *entry = &mapping_table->entries[i];

		fill_entry(all, entry);
		if (entry->is_jit)
			continue;
		beside |= entry->mapping.flags & BESIDE;
		if (!(entry->mapping.flags & UNWIND_HOST))
			continue;
		mapping_table->host = entry->mapping.table;
		mapping_table->hosted = ready_table(all, entry)->hosted;
		if (mapping_table->hosted.cfa == UNWIND_CFA_REG)
			mapping_table->hosted.cfa_offset =
				(int)((uint32_t)mapping_table->hosted.cfa_offset +
				      (uint32_t)entry->mapping.bias);
	}
	for (uint32_t i = 0; i < mapping_table->n_mappings; i++) {
		struct mapping_entry *entry = &mapping_table->entries[i];

		if (entry->is_jit)
			entry->mapping.flags = (entry->mapping.flags & ~BESIDE) | beside;
		else if (beside & UNWIND_HOST_OF_FILES)
			entry->mapping.flags =
				(entry->mapping.flags & ~(uint32_t)UNWIND_KEEPS_FP) |
				UNWIND_HOST | UNWIND_HOST_OF_FILES;
		else
			continue;
		all->parts |= beside & UNWIND_HOST ? PART_HOSTED : 0;
	}
}

/* Of generated code nothing else is known than that it is there, so neighbours are as
 * good as one: a JIT maps page after page. */
static void add_part(struct mapping_table *mapping_table, const struct mapping *map)
{
	struct mapping_entry *last =
		mapping_table->entries + mapping_table->n_mappings - 1;

	if (map->is_jit && !map->is_copy && mapping_table->n_mappings && last->is_jit &&
	    !last->is_copy && last->mapping.end == map->start) {
		last->mapping.end = map->end;
		return;
	}
	mapping_table->entries[mapping_table->n_mappings++] = (struct mapping_entry){
		.mapping = { .start = map->start, .end = map->end },
		.pgoff = map->pgoff,
		.module = map->module,
		.is_jit = map->is_jit,
		.is_copy = map->is_copy,
	};
}

static unsigned int log2_bytes(const struct mapping_entry *entry)
{
	return 63 -
	       (unsigned int)__builtin_clzll(entry->mapping.end - entry->mapping.start);
}

static void note_cut(struct mapping_tables_counts *counts, uint32_t tgid, uint32_t left)
{
	counts->cut += left;
	for (uint32_t i = 0; i < counts->n_cut_of; i++)
		if (counts->cut_of[i] == tgid)
			return;
	if (counts->n_cut_of < MAPPING_TABLES_CUT_MAX)
		counts->cut_of[counts->n_cut_of++] = tgid;
}

/* Of more than ticks look at: libraries lie behind every stack, a page of a JIT's behind
 * few. So of generated code the small ones go. Then files, but not the program, which is
 * the lowest: the loader and the C library were mapped first, and are the highest. */
static void drop_some(struct mapping_table *mapping_table)
{
	uint32_t n = mapping_table->n_mappings, left = n - UNWIND_MAPPINGS_MAX, kept = 0;
	uint32_t to_drop[64] = { 0 }, program = 0;

	for (uint32_t i = n; i--;)
		if (mapping_table->entries[i].is_jit)
			to_drop[log2_bytes(&mapping_table->entries[i])]++;
		else
			program = mapping_table->entries[i].module;
	for (int i = 0; i < 64; i++) {
		if (to_drop[i] > left)
			to_drop[i] = left;
		left -= to_drop[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct mapping_entry *entry = &mapping_table->entries[i];

		if (entry->is_jit && to_drop[log2_bytes(entry)])
			to_drop[log2_bytes(entry)]--;
		else if (!entry->is_jit && left && entry->module != program)
			left--;
		else
			mapping_table->entries[kept++] = *entry;
	}
	mapping_table->n_mappings = kept - left;
}

static int list_entries(struct mapping_tables *all, const struct process *process,
			struct mapping_table *mapping_table)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	mapping_table->entries = calloc(n ? n : 1, sizeof(*mapping_table->entries));
	if (!mapping_table->entries)
		return fail(-ENOMEM, "no memory for %zu mappings", n);
	for (size_t i = 0; i < n; i++)
		add_part(mapping_table, &maps[i]);
	if (mapping_table->n_mappings > UNWIND_MAPPINGS_MAX) {
		note_cut(&all->counts, process->tgid,
			 mapping_table->n_mappings - UNWIND_MAPPINGS_MAX);
		drop_some(mapping_table);
	}
	return 0;
}

static bool is_same_entry(const struct mapping_entry *a, const struct mapping_entry *b)
{
	return a->mapping.start == b->mapping.start && a->mapping.end == b->mapping.end &&
	       a->pgoff == b->pgoff && a->module == b->module && a->is_jit == b->is_jit;
}

/* A JIT that makes its pages executable again and again maps what it had. */
static bool is_same(const struct mapping_table *a, const struct mapping_table *b)
{
	bool same = a && a->n_mappings == b->n_mappings;

	for (uint32_t i = 0; same && i < b->n_mappings; i++)
		same = is_same_entry(&a->entries[i], &b->entries[i]);
	return same;
}

static int write_mapping_table(struct mapping_tables *all,
			       const struct mapping_table *mapping_table)
{
	AUTO_FREE union unwind_page *pages =
		calloc(mapping_table->n_pages, sizeof(*pages));

	if (!pages)
		return fail(-ENOMEM, "no memory for %u pages", mapping_table->n_pages);
	pages->mapping_head = (struct unwind_mapping_head){
		.generation = mapping_table->generation,
		.hosted = mapping_table->hosted,
		.host = mapping_table->host,
	};
	for (uint32_t i = 0; i < mapping_table->n_mappings; i++)
		pages[(i + 1) / UNWIND_MAPPINGS_A_PAGE]
			.mappings[(i + 1) % UNWIND_MAPPINGS_A_PAGE] =
			mapping_table->entries[i].mapping;
	return page_allocator_write(all->config.allocator, mapping_table->first, pages,
				    mapping_table->n_pages);
}

static void leave_tables(struct mapping_tables *all,
			 const struct mapping_table *mapping_table)
{
	for (uint32_t i = 0; i < mapping_table->n_mappings; i++)
		if (mapping_table->entries[i].uses_table)
			tables_leave(all->config.tables, mapping_table->entries[i].module,
				     all->config.outside->now_ns());
}

/* 0 with *ret NULL: nothing to tell, or no room. */
static int make_mapping_table(struct mapping_tables *all, const struct process *process,
			      struct mapping_table *old, struct mapping_table **ret)
{
	struct mapping_table *mapping_table = calloc(1, sizeof(*mapping_table));
	int err = mapping_table ? 0 : fail(-ENOMEM, "no memory for a mapping table");

	*ret = NULL;
	if (!err)
		err = list_entries(all, process, mapping_table);
	if (err || !mapping_table->n_mappings || is_same(old, mapping_table)) {
		*ret = err || !mapping_table->n_mappings ? NULL : old;
		mapping_table_free(mapping_table);
		return err;
	}
	fill_entries(all, mapping_table);
	mapping_table->version = process_version(process);
	mapping_table->generation = ++all->generations;
	mapping_table->n_pages = mapping_table->n_mappings / UNWIND_MAPPINGS_A_PAGE + 1;
	mapping_table->first =
		heap_take_reserved(all->config.allocator, mapping_table->n_pages,
				   all->config.outside->now_ns());
	if (!mapping_table->first)
		all->counts.refused++;
	else
		err = write_mapping_table(all, mapping_table);
	if (!err && mapping_table->first)
		err = hmap_put(&all->by_version, mapping_table->version, mapping_table);
	if (!err && mapping_table->first) {
		all->counts.made++;
		*ret = mapping_table;
		return 0;
	}
	leave_tables(all, mapping_table);
	if (mapping_table->first)
		page_allocator_release(all->config.allocator, mapping_table->first,
				       mapping_table->n_pages,
				       all->config.outside->now_ns());
	mapping_table_free(mapping_table);
	return err;
}

int mapping_tables_use(struct mapping_tables *all, const struct process *process,
		       struct mapping_table *old, struct mapping_table **ret)
{
	int err = 0;

	*ret = hmap_get(&all->by_version, process_version(process));
	if (!*ret)
		err = make_mapping_table(all, process, old, ret);
	if (*ret)
		(*ret)->users++;
	return err;
}

void mapping_tables_share(struct mapping_table *mapping_table)
{
	mapping_table->users++;
}

/* Its pages say at once that they are no one's; whoever inherited them in the
 * kernel goes without until it is heard of. */
void mapping_tables_leave(struct mapping_tables *all, struct mapping_table *mapping_table)
{
	union unwind_page given_up = { .mapping_head = { 0 } };

	if (!mapping_table || --mapping_table->users)
		return;
	hmap_remove(&all->by_version, mapping_table->version);
	if (page_allocator_write(all->config.allocator, mapping_table->first, &given_up,
				 1))
		error_clear(); /* the pages are in quarantine, which is as good */
	page_allocator_release(all->config.allocator, mapping_table->first,
			       mapping_table->n_pages, all->config.outside->now_ns());
	leave_tables(all, mapping_table);
	mapping_table_free(mapping_table);
}

bool mapping_tables_holds(const struct mapping_table *mapping_table, uint64_t start)
{
	for (uint32_t i = 0; i < mapping_table->n_mappings; i++)
		if (mapping_table->entries[i].mapping.start == start)
			return true;
	return false;
}

/* Other code than *map has in the same place? A copy of generated code is compared with
 * that at each tick. */
static bool is_other(const struct mapping_entry *entry, const struct files *files,
		     const struct mapping *map)
{
	if (entry->is_jit || map->is_jit)
		return entry->is_jit != map->is_jit;
	return files_same(files, entry->module) != files_same(files, map->module) ||
	       entry->mapping.start - entry->pgoff != map->start - map->pgoff;
}

enum mapping_told mapping_tables_told(const struct mapping_table *mapping_table,
				      const struct files *files,
				      const struct mapping *map)
{
	const struct mapping_entry *all = mapping_table->entries;
	size_t n = mapping_table->n_mappings;
	enum mapping_told told = TOLD_NOTHING;

	for (size_t i = LOWER_BOUND(n, k, all[k].mapping.end <= map->start);
	     i < n && all[i].mapping.start < map->end; i++) {
		if (all[i].is_copy)
			continue;
		if (is_other(&all[i], files, map))
			return TOLD_OTHER_CODE;
		told = TOLD_THE_SAME;
	}
	return told;
}

/* It is taken back: awaited, until somebody asks for it again. */
static void drop_table(struct mapping_tables *all, struct mapping_entry *entry)
{
	entry->mapping.table = entry->mapping.flags = 0;
	entry->uses_table = false;
	tables_leave(all->config.tables, entry->module, all->config.outside->now_ns());
}

/* In two steps: whoever sees a table must see the bias that goes with it. */
int mapping_tables_renew(struct mapping_tables *all, struct mapping_table *mapping_table)
{
	bool biased = false;
	int err = 0;

	for (uint32_t i = 0; i < mapping_table->n_mappings; i++) {
		struct mapping_entry *entry = &mapping_table->entries[i];

		if (!entry->uses_table && ready_table(all, entry))
			biased |= find_bias(all, entry);
		else if (entry->uses_table && !ready_table(all, entry))
			drop_table(all, entry);
	}
	if (biased)
		err = write_mapping_table(all, mapping_table);
	fill_entries(all, mapping_table);
	return err ? err : write_mapping_table(all, mapping_table);
}

/* Does it map the file, under whichever name, and not say of its table what is so? */
static bool is_outdated(const struct mapping_tables *all,
			const struct mapping_table *mapping_table, uint32_t module)
{
	const struct files *files = all->config.files;

	for (uint32_t i = 0; i < mapping_table->n_mappings; i++)
		if (files_same(files, mapping_table->entries[i].module) == module &&
		    (!mapping_table->entries[i].uses_table ||
		     !ready_table(all, &mapping_table->entries[i])))
			return true;
	return false;
}

int mapping_tables_update(struct mapping_tables *all, uint32_t module)
{
	struct mapping_table *mapping_table;
	int err = 0;

	for (size_t i = 0; !err && (mapping_table = hmap_next(&all->by_version, &i));)
		if (is_outdated(all, mapping_table, module))
			err = mapping_tables_renew(all, mapping_table);
	return err;
}

void spaces_mark_modules(const struct mapping_tables *all, struct module_table *modules)
{
	const struct mapping_table *mapping_table;

	for (size_t i = 0; (mapping_table = hmap_next(&all->by_version, &i));)
		for (uint32_t k = 0; k < mapping_table->n_mappings; k++)
			module_mark(modules, mapping_table->entries[k].module);
}

const struct mapping_tables_counts *
mapping_tables_counts(const struct mapping_tables *all)
{
	return &all->counts;
}
