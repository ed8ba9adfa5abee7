// SPDX-License-Identifier: BSD-2-Clause
/* What is published of one process: put together, and put where they find it. */
#include "publish/hotspots.h"

#include "base/error.h"
#include "publish/keys.h"

#include <errno.h>
#include <string.h>

void publisher_note_error(struct publisher *p, int err)
{
	if (err < 0 && !p->err)
		p->err = err;
}

struct process_entry *publisher_entry(struct publisher *p, const struct process *process)
{
	struct process_entry *entry = hmap_get(&p->entries, process->tgid);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry && !hmap_put(&p->entries, process->tgid, entry))
		return entry;
	free(entry);
	publisher_note_error(p, fail(-ENOMEM, "no memory for a process"));
	return NULL;
}

void publisher_make_dirty(struct publisher *p, const struct process *process)
{
	struct process_entry *entry = publisher_entry(p, process);

	if (!entry || entry->is_queued)
		return;
	entry->is_queued = true;
	publisher_note_error(p, vec_push(&p->dirty, process->tgid));
}

void publisher_note_place(struct publisher *p, const struct process *process,
			  const struct mapping *map)
{
	const struct process_entry *entry = hmap_get(&p->entries, process->tgid);
	struct replaced_place place = { map->start, map->end, map->born_ns, 0 };
	enum mapping_told told;

	if (!p->config.replaced || !entry || !entry->mapping_table)
		return;
	told = mapping_tables_told(entry->mapping_table, p->files, map);
	place.is_back = told == TOLD_THE_SAME;
	if (told != TOLD_NOTHING)
		publisher_note_error(
			p, replaced_put(p->config.replaced, process->tgid, &place));
}

/* Was this file not wanted before in this round? One may be mapped 10,000 times. */
static bool is_first(struct publisher *p, uint32_t module)
{
	while (p->wanted.n <= module)
		if (vec_push(&p->wanted, 0)) {
			error_clear();
			return true;
		}
	if (p->wanted.items[module] == p->round)
		return false;
	p->wanted.items[module] = p->round;
	return true;
}

/* A table may have been taken back since its file was mapped. */
static int want_all(struct publisher *p, const struct process *process)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);
	int err = 0;

	p->round++;
	for (size_t i = 0; !err && i < n; i++)
		if (is_first(p, maps[i].module))
			err = tables_note(p->tables, process, &maps[i]);
	return err;
}

#define MANY_MAPPINGS  1023	/* more go by that pace: */
#define PACE_NS	       1000	/* a mapping: some 20 times what it costs */
#define BEHIND_PACE_NS 20000000 /* for all, of whose user's budget is used up */
#define PUBLICATION_NS 50000	/* what it costs; charged to who maps all the time */
#define OFTEN	       64	/* more than that is */

#define PAGES_SHARE 32 /* of all pages may rest that were one process's */
#define PAGES_MIN   8

/* Does it change what it maps faster than pages that were given up come back? */
static bool takes_too_many(const struct publisher *p, struct process_entry *entry,
			   uint64_t now)
{
	uint32_t most = p->allocator ? heap_pages(p->allocator) / PAGES_SHARE : 0;

	if (now - entry->pages_ns >= PAGE_QUARANTINE_NS) {
		entry->pages_ns = now;
		entry->n_pages = 0;
	}
	return entry->n_pages > (most > PAGES_MIN ? most : PAGES_MIN);
}

bool publisher_must_pause(struct publisher *p, const struct process *process,
			  struct process_entry *entry)
{
	uint64_t now = p->config.outside->now_ns(), pace = 0;
	bool is_often = entry->n_tried >= OFTEN;
	size_t n;

	process_mappings(process, &n);
	if (n > MANY_MAPPINGS)
		pace = n * PACE_NS;
	if (is_often && pace < BEHIND_PACE_NS &&
	    (takes_too_many(p, entry, now) || tables_are_over_budget(p->tables, process)))
		pace = BEHIND_PACE_NS;
	if (entry->tried_ns && now - entry->tried_ns < pace)
		return true;
	entry->tried_ns = now;
	entry->n_tried += !is_often;
	if (is_often)
		tables_charge(p->tables, process, PUBLICATION_NS);
	return false;
}

/* *ret_left: what it had, which ticks find until the new one is put; NULL: it stays. */
static int find_mapping_table(struct publisher *p, const struct process *process,
			      struct process_entry *entry,
			      struct mapping_table **ret_left)
{
	struct mapping_table *old = entry->mapping_table;
	int err;

	if (!p->mapping_tables || (old && entry->version == process_version(process)))
		return 0;
	err = want_all(p, process);
	if (err)
		return err;
	err = mapping_tables_use(p->mapping_tables, process, old, &entry->mapping_table);
	if (entry->mapping_table && entry->mapping_table != old)
		entry->n_pages += entry->mapping_table->n_pages;
	*ret_left = old;
	return err;
}

/*
 * Once an incarnation: what is published of an old one after it ended is no one's. One
 * that was provisional stays so until its turn has come to be asked again, whatever is
 * read of it meanwhile. Of one whose beginning the kernel told nothing is read, unless
 * a tick said that this was not so.
 */
static int identify(struct publisher *p, const struct process *process,
		    struct process_entry *entry)
{
	bool was_provisional = process_entry_is_provisional(entry), is_provisional;
	int err;

	if (entry->incarnation == INCARNATION_SETTLED)
		return 0;
	if (process->is_told && !entry->is_doubted) {
		entry->incarnation = INCARNATION_TOLD;
		return 0;
	}
	is_provisional = p->config.outside->now_ns() <= process->born_ns + EXEC_NS;
	err = identity_read(p->config.outside, process, p->config.modules, p->files,
			    &entry->identity);
	if (is_provisional || (err && was_provisional))
		entry->incarnation =
			err ? INCARNATION_UNIDENTIFIED : INCARNATION_PROVISIONAL;
	else
		entry->incarnation = err ? INCARNATION_UNREAD : INCARNATION_SETTLED;
	if (is_provisional && !was_provisional)
		publisher_note_error(p, vec_push(&p->provisional, process->tgid));
	return err;
}

/* Keys are set when the first operation runs: which of too many those are shows. What
 * is set stays so, and an answer may fail to come, so once too many is too many. */
static void note_keys(struct publisher *p, struct process_entry *entry,
		      const struct key_count *keys)
{
	enum key_room room = KEYS_FIT;

	if (keys->candidates > KEYS_MAX)
		room = keys->set > KEYS_MAX || entry->keys == TOO_MANY_KEYS_SET
			       ? TOO_MANY_KEYS_SET
			       : TOO_MANY_KEYS;
	p->counts.too_many_keys += room != KEYS_FIT && entry->keys == KEYS_FIT;
	p->counts.too_many_set_keys += room == TOO_MANY_KEYS_SET && entry->keys != room;
	entry->keys = room;
}

#define HIDDEN_MAX 65536

void publisher_note_hidden(struct publisher *p, uint32_t tgid)
{
	if (p->hidden.n >= HIDDEN_MAX || hmap_get(&p->hidden, tgid))
		return;
	publisher_note_error(p, hmap_put(&p->hidden, tgid, p));
	p->counts.hidden++;
}

static uint64_t code_bytes(const struct process *process)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += maps[i].end - maps[i].start;
	return sum;
}

/* It is gone meanwhile, or hidden, or there is no room: it goes unseen. */
static void note_refusal(struct publisher *p, const struct process *process,
			 const struct process_entry *entry, int err)
{
	bool is_old = !process_entry_is_provisional(entry);

	if (err == -EPERM && is_old)
		publisher_note_hidden(p, process->tgid);
	p->counts.refused += err != -ESRCH && err != -EPERM && is_old;
	log_verbose_paced(&p->pace, "%s", error_sentence());
	error_clear();
}

static int publish(struct publisher *p, const struct process *process,
		   struct process_entry *entry, bool *ret_is_there,
		   struct mapping_table **ret_left)
{
	struct process_info process_info = { 0 };
	const struct key_reader from = { p->config.outside, p->files, p->config.opener };
	struct key_count keys = keys_gather(&from, process, &process_info);
	unsigned int n_keys = keys.candidates;
	int err = find_mapping_table(p, process, entry, ret_left);

	if (err)
		return err;
	process_info.code_bytes = code_bytes(process);
	note_keys(p, entry, &keys);
	if (hotspots_find(p, process, entry, keys.hotspot, &process_info))
		publisher_note_error(p, vec_push(&p->hotspots, process->tgid));
	p->parts |= (n_keys ? PART_CHAINS : 0) |
		    (entry->hotspot.is != HOTSPOT_NONE ? PART_HOTSPOT : 0);
	entry->version = process_version(process);
	*ret_is_there = true;
	if (!n_keys && !entry->mapping_table && !process_info.context.access)
		return 0;
	if (entry->mapping_table) {
		process_info.mapping_table = entry->mapping_table->first;
		process_info.n_mappings = entry->mapping_table->n_mappings;
		process_info.generation = entry->mapping_table->generation;
	}
	err = identify(p, process, entry);
	process_info.start_ticks = entry->identity.start_ticks;
	process_info.start_stack = entry->identity.start_stack;
	process_info.told_ns =
		entry->incarnation == INCARNATION_TOLD ? process->born_ns : 0;
	if (!err && entry->publication &&
	    !memcmp(&process_info, &entry->process_info, sizeof(process_info)))
		return 0;
	if (!err)
		err = p->config.outside->put(&p->config.maps, (pid_t)process->tgid,
					     &process_info);
	if (err) {
		*ret_is_there = false;
		note_refusal(p, process, entry, err);
		return 0;
	}
	entry->process_info = process_info;
	entry->published_ns = p->config.outside->now_ns();
	p->counts.processes += n_keys && entry->publication != PUBLISHED_KEYS;
	entry->publication = n_keys ? PUBLISHED_KEYS : PUBLISHED_MAPPINGS;
	return 0;
}

int publisher_publish(struct publisher *p, const struct process *process,
		      struct process_entry *entry)
{
	struct mapping_table *left = NULL;
	bool is_there = false; /* where ticks find it */
	int err = publish(p, process, entry, &is_there, &left);

	if (left)
		mapping_tables_leave(p->mapping_tables, left);
	if (!err && is_there && p->config.replaced)
		replaced_settle(p->config.replaced, process->tgid,
				p->config.outside->now_ns());
	return err;
}
