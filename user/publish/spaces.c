// SPDX-License-Identifier: BSD-2-Clause
#include "publish/spaces.h"

#include "base/error.h"
#include "base/hmap.h"

#include <errno.h>
#include <string.h>

struct space_part {
	struct unwind_mapping mapping;
	uint64_t pgoff;
	uint32_t module;
	bool is_jit, uses_table;
};

struct spaces {
	struct spaces_config config;
	struct hmap by_version;
	uint32_t generations;
	struct spaces_counts counts;
};

int spaces_new(struct spaces **ret, const struct spaces_config *config)
{
	struct spaces *spaces = calloc(1, sizeof(*spaces));

	if (!spaces)
		return fail(-ENOMEM, "no memory for what processes map");
	spaces->config = *config;
	*ret = spaces;
	return 0;
}

static void space_free(struct space *space)
{
	if (space)
		free(space->parts);
	free(space);
}

void spaces_free(struct spaces *spaces)
{
	struct space *space;

	if (!spaces)
		return;
	for (size_t i = 0; (space = hmap_next(&spaces->by_version, &i));)
		space_free(space);
	hmap_free(&spaces->by_version);
	free(spaces);
}

/* Address minus address as linked, once the file's segments are known; false: not
 * known, or the mapping is of none of them. */
static bool find_bias(const struct spaces *spaces, struct space_part *part)
{
	const struct elf_facts *facts = files_facts(spaces->config.files, part->module);
	uint64_t vaddr = part->pgoff; /* the vDSO's are its offsets */

	if (part->module != MODULE_ID_VDSO &&
	    (!facts || !elf_vaddr_of_mapping(facts, part->pgoff, &vaddr)))
		return false;
	part->mapping.bias = part->mapping.start - vaddr;
	return true;
}

static const struct table *ready_table(const struct spaces *spaces,
				       const struct space_part *part)
{
	const struct table *table =
		part->is_jit ? NULL : tables_get(spaces->config.tables, part->module);

	return table && table->state == TABLE_READY ? table : NULL;
}

static bool goes_by_fp(const struct spaces *spaces, const struct space_part *part)
{
	const struct table *table = tables_get(spaces->config.tables, part->module);

	return part->is_jit || (table && table->state == TABLE_WITHOUT);
}

/* What a part says while its module is in the state that it is in. One for whose
 * table there is no room stays awaited: its code may keep anything as frame pointer. */
static void fill_part(const struct spaces *spaces, struct space_part *part)
{
	const struct table *table = ready_table(spaces, part);

	if (part->uses_table)
		return;
	part->mapping.flags = goes_by_fp(spaces, part) ? UNWIND_BY_FP : 0;
	if (!table)
		return;
	if (!find_bias(spaces, part)) { /* of its file, but in no segment */
		part->mapping.flags = UNWIND_BY_FP;
		return;
	}
	part->mapping.table = table->first;
	part->mapping.flags = table->flags;
	if (spaces->config.all_by_table)
		part->mapping.flags &= ~(uint32_t)UNWIND_KEEPS_FP;
	part->uses_table = true;
	tables_use(spaces->config.tables, part->module);
}

/* Of generated code nothing else is known than that it is there, so neighbours are as
 * good as one: a JIT maps page after page. */
static void add_part(struct space *space, const struct mapping *map)
{
	struct space_part *last = space->parts + space->n_mappings - 1;

	if (map->is_jit && space->n_mappings && last->is_jit &&
	    last->mapping.end == map->start) {
		last->mapping.end = map->end;
		return;
	}
	space->parts[space->n_mappings++] = (struct space_part){
		.mapping = { .start = map->start, .end = map->end },
		.pgoff = map->pgoff,
		.module = map->module,
		.is_jit = map->is_jit,
	};
}

static unsigned int log2_bytes(const struct space_part *part)
{
	return 63 -
	       (unsigned int)__builtin_clzll(part->mapping.end - part->mapping.start);
}

/* Of more than ticks look at: libraries lie behind every stack, a page of a JIT's behind
 * few. So of generated code the small ones go, then the last files. */
static void drop_some(struct spaces *spaces, struct space *space)
{
	uint32_t n = space->n_mappings, left = n - UNWIND_MAPPINGS_MAX, kept = 0;
	uint32_t to_drop[64] = { 0 };

	spaces->counts.cut += left;
	for (uint32_t i = 0; i < n; i++)
		if (space->parts[i].is_jit)
			to_drop[log2_bytes(&space->parts[i])]++;
	for (int i = 0; i < 64; i++) {
		if (to_drop[i] > left)
			to_drop[i] = left;
		left -= to_drop[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct space_part *part = &space->parts[i];

		if (part->is_jit && to_drop[log2_bytes(part)])
			to_drop[log2_bytes(part)]--;
		else
			space->parts[kept++] = *part;
	}
	space->n_mappings = kept - left;
}

static int make_parts(struct spaces *spaces, const struct process *process,
		      struct space *space)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);

	space->parts = calloc(n ? n : 1, sizeof(*space->parts));
	if (!space->parts)
		return fail(-ENOMEM, "no memory for %zu mappings", n);
	for (size_t i = 0; i < n; i++)
		add_part(space, &maps[i]);
	if (space->n_mappings > UNWIND_MAPPINGS_MAX)
		drop_some(spaces, space);
	for (uint32_t i = 0; i < space->n_mappings; i++)
		fill_part(spaces, &space->parts[i]);
	return 0;
}

static int write_space(struct spaces *spaces, const struct space *space)
{
	AUTO_FREE union unwind_page *pages = calloc(space->n_pages, sizeof(*pages));

	if (!pages)
		return fail(-ENOMEM, "no memory for %u pages", space->n_pages);
	pages->space.generation = space->generation;
	for (uint32_t i = 0; i < space->n_mappings; i++)
		pages[(i + 1) / UNWIND_MAPPINGS_A_PAGE]
			.mappings[(i + 1) % UNWIND_MAPPINGS_A_PAGE] =
			space->parts[i].mapping;
	return heap_write(spaces->config.heap, space->first, pages, space->n_pages);
}

static void leave_tables(struct spaces *spaces, const struct space *space)
{
	for (uint32_t i = 0; i < space->n_mappings; i++)
		if (space->parts[i].uses_table)
			tables_leave(spaces->config.tables, space->parts[i].module,
				     spaces->config.outside->now_ns());
}

/* 0 with *ret NULL: nothing to tell, or no room. */
static int make_space(struct spaces *spaces, const struct process *process,
		      struct space **ret)
{
	struct space *space = calloc(1, sizeof(*space));
	int err = space ? 0 : fail(-ENOMEM, "no memory for a space");

	*ret = NULL;
	if (!err)
		err = make_parts(spaces, process, space);
	if (err || !space->n_mappings) {
		space_free(space);
		return err;
	}
	space->version = process_version(process);
	space->generation = ++spaces->generations;
	space->n_pages = space->n_mappings / UNWIND_MAPPINGS_A_PAGE + 1;
	space->first = heap_take_reserved(spaces->config.heap, space->n_pages,
					  spaces->config.outside->now_ns());
	if (!space->first)
		spaces->counts.refused++;
	else
		err = write_space(spaces, space);
	if (!err && space->first)
		err = hmap_put(&spaces->by_version, space->version, space);
	if (!err && space->first) {
		spaces->counts.made++;
		*ret = space;
		return 0;
	}
	leave_tables(spaces, space);
	if (space->first)
		heap_give(spaces->config.heap, space->first, space->n_pages,
			  spaces->config.outside->now_ns());
	space_free(space);
	return err;
}

int spaces_use(struct spaces *spaces, const struct process *process, struct space **ret)
{
	int err = 0;

	*ret = hmap_get(&spaces->by_version, process_version(process));
	if (!*ret)
		err = make_space(spaces, process, ret);
	if (*ret)
		(*ret)->users++;
	return err;
}

void spaces_share(struct space *space)
{
	space->users++;
}

/* Its pages say at once that they are no one's; whoever inherited them in the
 * kernel goes without until it is heard of. */
void spaces_leave(struct spaces *spaces, struct space *space)
{
	union unwind_page given_up = { .space = { 0 } };

	if (!space || --space->users)
		return;
	hmap_remove(&spaces->by_version, space->version);
	if (heap_write(spaces->config.heap, space->first, &given_up, 1))
		error_clear(); /* the pages rest, which is as good */
	heap_give(spaces->config.heap, space->first, space->n_pages,
		  spaces->config.outside->now_ns());
	leave_tables(spaces, space);
	space_free(space);
}

bool spaces_holds(const struct space *space, uint64_t start)
{
	for (uint32_t i = 0; i < space->n_mappings; i++)
		if (space->parts[i].mapping.start == start)
			return true;
	return false;
}

/* It is taken back: awaited, until somebody asks for it again. */
static void drop_table(struct spaces *spaces, struct space_part *part)
{
	part->mapping.table = part->mapping.flags = 0;
	part->uses_table = false;
	tables_leave(spaces->config.tables, part->module,
		     spaces->config.outside->now_ns());
}

/* In two steps: whoever sees a table must see the bias that goes with it. */
int spaces_renew(struct spaces *spaces, struct space *space)
{
	bool biased = false;
	int err = 0;

	for (uint32_t i = 0; i < space->n_mappings; i++) {
		struct space_part *part = &space->parts[i];

		if (!part->uses_table && ready_table(spaces, part))
			biased |= find_bias(spaces, part);
		else if (part->uses_table && !ready_table(spaces, part))
			drop_table(spaces, part);
	}
	if (biased)
		err = write_space(spaces, space);
	for (uint32_t i = 0; i < space->n_mappings; i++)
		fill_part(spaces, &space->parts[i]);
	return err ? err : write_space(spaces, space);
}

/* Does it map the file, under whichever name, and not say of its table what is so? */
static bool is_outdated(const struct spaces *spaces, const struct space *space,
			uint32_t module)
{
	const struct files *files = spaces->config.files;

	for (uint32_t i = 0; i < space->n_mappings; i++)
		if (files_same(files, space->parts[i].module) == module &&
		    (!space->parts[i].uses_table ||
		     !ready_table(spaces, &space->parts[i])))
			return true;
	return false;
}

int spaces_update(struct spaces *spaces, uint32_t module)
{
	struct space *space;
	int err = 0;

	for (size_t i = 0; !err && (space = hmap_next(&spaces->by_version, &i));)
		if (is_outdated(spaces, space, module))
			err = spaces_renew(spaces, space);
	return err;
}

const struct spaces_counts *spaces_counts(const struct spaces *spaces)
{
	return &spaces->counts;
}
