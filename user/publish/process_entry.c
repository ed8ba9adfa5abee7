// SPDX-License-Identifier: BSD-2-Clause
/* What is published of one process: put together, and put where they find it. */
#include "publish/publisher_parts.h"

#include "base/clock.h"
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

	if (!entry || entry->dirty)
		return;
	entry->dirty = true;
	publisher_note_error(p, vec_push(&p->dirty, process->tgid));
}

static int find_mapping_table(struct publisher *p, const struct process *process,
			      struct process_entry *entry)
{
	struct mapping_table *old = entry->mapping_table;
	int err;

	if (!p->mapping_tables || (old && entry->version == process_version(process)))
		return 0;
	err = mapping_tables_use(p->mapping_tables, process, &entry->mapping_table);
	if (old)
		mapping_tables_leave(p->mapping_tables, old);
	return err;
}

/* Once an incarnation: what is published of an old one after it ended is no one's. */
static int identify(struct publisher *p, const struct process *process,
		    struct process_entry *entry)
{
	uint64_t now = clock_now_ns();
	int err;

	if (entry->is_known)
		return 0;
	err = identity_read(process, p->config.modules, p->files, &entry->identity);
	if (err)
		return err;
	entry->is_known = now > process->born_ns + EXEC_NS;
	return 0;
}

static void ask_again(struct publisher *p, const struct process *process,
		      struct process_entry *entry)
{
	if (entry->is_provisional || clock_now_ns() > process->born_ns + EXEC_NS)
		return;
	entry->is_provisional = true;
	publisher_note_error(p, vec_push(&p->provisional, process->tgid));
}

/* Keys are set when the first operation runs: which of too many those are shows. */
static void note_keys(struct publisher *p, struct process_entry *entry,
		      const struct key_count *keys)
{
	bool too_many_set_keys = keys->set > KEYS_MAX;
	bool too_many_keys = keys->candidates > KEYS_MAX;

	p->counts.too_many_set_keys += too_many_set_keys && !entry->has_too_many_set_keys;
	entry->has_too_many_set_keys |= too_many_set_keys;
	p->counts.too_many_keys += too_many_keys && !entry->has_too_many_keys;
	entry->has_too_many_keys = too_many_keys;
}

int publisher_publish(struct publisher *p, const struct process *process,
		      struct process_entry *entry)
{
	struct process_info process_info = { 0 };
	struct key_count keys = keys_gather(&p->reader, p->files, process, &process_info);
	unsigned int n_keys = keys.candidates;
	int err = find_mapping_table(p, process, entry);

	if (err)
		return err;
	note_keys(p, entry, &keys);
	entry->version = process_version(process);
	if (!n_keys && !entry->mapping_table)
		return 0;
	if (entry->mapping_table) {
		process_info.mapping_table = entry->mapping_table->first;
		process_info.n_mappings = entry->mapping_table->n_mappings;
		process_info.generation = entry->mapping_table->generation;
	}
	err = identify(p, process, entry);
	entry->is_unidentified = err != 0;
	if (err || !entry->is_known)
		ask_again(p, process, entry);
	process_info.start_ticks = entry->identity.start_ticks;
	process_info.start_stack = entry->identity.start_stack;
	if (!err && entry->published_ns &&
	    !memcmp(&process_info, &entry->process_info, sizeof(process_info)))
		return 0;
	if (!err)
		err = publish_maps_put_process(&p->config.maps, (pid_t)process->tgid,
					       &process_info);
	if (err) { /* gone meanwhile, hidden, or no room: it goes unseen */
		p->counts.refused += err != -ESRCH && !entry->is_provisional;
		log_verbose_paced(&p->pace, "%s", error_sentence());
		error_clear();
		return 0;
	}
	entry->process_info = process_info;
	entry->published_ns = clock_now_ns();
	p->counts.processes += n_keys && !entry->has_keys;
	entry->has_keys = n_keys;
	return 0;
}
