// SPDX-License-Identifier: BSD-2-Clause
#include "publish/tables_parts.h"

#include <errno.h>

/* Then others may want something of us. */
#define OPEN_SLICE_NS 5000000

static int note(struct tables *tables, uid_t owner, const struct process *process,
		const struct mapping *map)
{
	struct table *table = &tables->tables.items[map->module];

	table->state = TABLE_NOTED;
	table->noted_tgid = process->tgid;
	table->noted_at = map->start;
	table->is_roots |= !owner;
	return turns_add(tables->noted, owner, map->module, TURN_MAPPED);
}

int tables_note(struct tables *tables, const struct process *process,
		const struct mapping *map)
{
	struct table *table;
	bool is_over;

	if (!tables_is_unopened(tables, map->module))
		return tables_request(tables, process, map);
	if (tables_make_entry(tables, map->module))
		return -ENOMEM;
	is_over = tables_are_over_budget(tables, process);
	table = &tables->tables.items[map->module];
	tables->counts.over_budget += is_over && !table->was_put_off;
	table->was_put_off |= is_over;
	if (table->state <= TABLE_NOTED)
		return note(tables, tables_owner(tables, process), process, map);
	/* it was missed before */
	return is_over ? 0 : tables_request(tables, process, map);
}

/* Who maps it may have gone, and somebody else come to map it. */
static int open_noted(struct tables *tables, uint32_t module)
{
	struct table *table = &tables->tables.items[module];
	const struct process *process;
	const struct mapping *map;

	if (table->state != TABLE_NOTED)
		return 0;
	process = process_get(tables->processes, table->noted_tgid);
	map = process ? process_mapping(process, table->noted_at) : NULL;
	if (map && map->module == module)
		return tables_request(tables, process, map);
	table->state = TABLE_NEW;
	return 0;
}

bool tables_open(struct tables *tables)
{
	uint64_t begun_ns = tables->outside->now_ns(), now_ns = begun_ns;
	struct turn_taken turn;

	tables->open_more = false;
	while (!tables->open_more && turns_next(tables->noted, now_ns, false, &turn)) {
		tables_note_error(tables, open_noted(tables, turn.module));
		now_ns = tables->outside->now_ns();
		tables->open_more = now_ns - begun_ns >= OPEN_SLICE_NS;
	}
	return tables->open_more;
}

bool tables_open_more(const struct tables *tables)
{
	return tables->open_more;
}
