// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who waits too long. That a walk ends since the table of the code there was not there
 * yet is true of a mapping's first milliseconds. Later it is a mistake of ours, or a
 * worker that cannot keep up: the process is counted as one or the other, and whatever
 * may have gone wrong is done once more, less and less often.
 */
#include "publish/publisher_parts.h"

#include "base/error.h"

#define OVERDUE_NS	2000000000ULL
#define STUCK_NS	60000000000ULL /* more than any file is given */
#define UNMAPPED_NS	200000000ULL   /* no worker has to come to it */
#define TELLING_NS	500000000ULL /* until ticks have what is there: a part, perhaps */
#define AGAIN_NS	1000000000ULL
#define AGAIN_SHIFT_MAX 6

static uint64_t overdue_at_ns(const struct process *process, const struct mapping *map)
{
	if (!map)
		return process->born_ns + UNMAPPED_NS;
	return (map->born_ns > process->born_ns ? map->born_ns : process->born_ns) +
	       OVERDUE_NS;
}

/* Has something been tried for it a moment ago? */
static bool is_too_soon(struct process_entry *entry, uint64_t now_ns)
{
	if (now_ns - entry->again_ns < AGAIN_NS << entry->n_again)
		return true;
	entry->again_ns = now_ns;
	if (entry->n_again < AGAIN_SHIFT_MAX)
		entry->n_again++;
	return false;
}

/* All that ticks find of it, as it should stand there by now. */
static int publish_anew(struct publisher *p, const struct process *process,
			struct process_entry *entry)
{
	entry->process_info = (struct process_info){ 0 };
	if (entry->incarnation == INCARNATION_SETTLED)
		entry->incarnation = INCARNATION_UNREAD;
	publisher_make_dirty(p, process);
	return entry->mapping_table
		       ? mapping_tables_renew(p->mapping_tables, entry->mapping_table)
		       : 0;
}

/* Where there is no room for tables or mappings it is refused, which is said elsewhere;
 * generated code has no table. */
static bool lacks_room(const struct process_entry *entry, const struct mapping *map,
		       const struct table *table)
{
	return !entry->mapping_table || map->is_jit ||
	       !mapping_tables_holds(entry->mapping_table, map->start) ||
	       (table && table->was_refused);
}

/* Was it still to come when that tick was, or ticks were being told? Some of them are
 * heard of when it is there. */
static bool was_awaited(const struct table *table, uint64_t time_ns)
{
	return table_is_awaited(table) || (table->state != TABLE_REFUSED &&
					   time_ns < table->settled_ns + TELLING_NS);
}

/* What the process maps was told anew, as with each change of that: what a tick lacked
 * then was there before, and is again. */
static bool was_being_told(const struct publisher *p, const struct process_entry *entry,
			   const struct mapping *map, uint64_t time_ns)
{
	const struct table *table = map ? tables_get(p->tables, map->module) : NULL;

	return table && (table->state == TABLE_READY || table->state == TABLE_WITHOUT) &&
	       time_ns < entry->published_ns + TELLING_NS;
}

/* A worker that has not come to it yet is slow, for whatever keeps it from its CPU, or
 * for how long it takes to read the file, or what others have it read before; that none
 * will is our mistake. */
static void count_overdue(struct publisher *p, const struct process *process,
			  struct process_entry *entry, bool is_coming, uint64_t late_ns)
{
	bool is_stuck =
		late_ns >= STUCK_NS && !tables_are_over_budget(p->tables, process);
	enum patience found = is_coming && !is_stuck ? SLOW : OVERDUE;

	if (entry->patience >= found)
		return;
	p->counts.slow += found == SLOW;
	p->counts.overdue += found == OVERDUE;
	entry->patience = found;
}

static int try_again(struct publisher *p, const struct process *process,
		     struct process_entry *entry, const struct mapping *map,
		     uint64_t time_ns)
{
	const struct table *table = tables_get(p->tables, map->module);
	bool is_coming = table && was_awaited(table, time_ns);

	if (!lacks_room(entry, map, table))
		count_overdue(p, process, entry, is_coming,
			      time_ns - overdue_at_ns(process, map));
	else if (!table || table->state != TABLE_REFUSED)
		return 0;
	if (is_coming)
		return 0; /* the worker will come to it, or has */
	p->counts.requested_again++;
	if (!table || table->state == TABLE_REFUSED)
		return tables_request(p->tables, process, map);
	return publish_anew(p, process, entry);
}

/* At once what was taken back while nobody ran it, or what others have gone for
 * meanwhile; and what waits for its turn goes first. */
static int ask_for(struct publisher *p, const struct process *process,
		   const struct mapping *map)
{
	const struct table *table = tables_get(p->tables, map->module);
	bool may_come = !table || table->state == TABLE_NOTED ||
			(table->state == TABLE_REFUSED && table->is_worth_a_try);
	int err = may_come ? tables_request(p->tables, process, map) : 0;

	return err ? err : tables_urge(p->tables, process, map->module);
}

/* Nothing is known of it: of one that begins, not yet; or /proc does not say. */
static void look_whether_hidden(struct publisher *p, uint32_t tgid)
{
	struct identity identity[2];

	if (hmap_get(&p->hidden, tgid))
		return;
	if (p->config.outside->identity(p->config.opener, (pid_t)tgid, NULL, 0,
					identity) == -EPERM)
		publisher_note_hidden(p, tgid);
	error_clear();
}

bool publisher_on_awaited(struct publisher *p, uint32_t tgid, uint64_t addr,
			  uint64_t time_ns)
{
	const struct process *process = process_get(p->processes, tgid);
	struct process_entry *entry = hmap_get(&p->entries, tgid);
	const struct mapping *map;

	if (!process)
		look_whether_hidden(p, tgid);
	if (process && !entry) /* nothing that it maps is known: it was not read yet */
		entry = publisher_entry(p, process);
	if (!process || process->ended_ns || !entry || !p->mapping_tables)
		return false;
	map = process_mapping(process, addr);
	if (map)
		publisher_note_error(p, ask_for(p, process, map));
	if (time_ns < overdue_at_ns(process, map) ||
	    was_being_told(p, entry, map, time_ns) ||
	    is_too_soon(entry, p->config.outside->now_ns()))
		return false;
	if (map)
		publisher_note_error(p, try_again(p, process, entry, map, time_ns));
	return !map;
}
