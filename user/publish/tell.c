// SPDX-License-Identifier: BSD-2-Clause
/* What ticks are told of one process: put together, and put where they find it. */
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

struct told *publisher_told(struct publisher *p, const struct process *process)
{
	struct told *told = hmap_get(&p->told, process->tgid);

	if (told)
		return told;
	told = calloc(1, sizeof(*told));
	if (told && !hmap_put(&p->told, process->tgid, told))
		return told;
	free(told);
	publisher_note_error(p, fail(-ENOMEM, "no memory for a process"));
	return NULL;
}

void publisher_make_dirty(struct publisher *p, const struct process *process)
{
	struct told *told = publisher_told(p, process);

	if (!told || told->dirty)
		return;
	told->dirty = true;
	publisher_note_error(p, vec_push(&p->dirty, process->tgid));
}

static int find_mapping_table(struct publisher *p, const struct process *process,
			      struct told *told)
{
	struct mapping_table *old = told->mapping_table;
	int err;

	if (!p->mapping_tables || (old && told->version == process_version(process)))
		return 0;
	err = mapping_tables_use(p->mapping_tables, process, &told->mapping_table);
	if (old)
		mapping_tables_leave(p->mapping_tables, old);
	return err;
}

/* Once a life: what is told of an old one after it ended is no one's. */
static int identify(struct publisher *p, const struct process *process, struct told *told)
{
	uint64_t now = clock_now_ns();
	int err;

	if (told->is_known)
		return 0;
	err = identity_read(process, p->config.modules, p->files, &told->life);
	if (err)
		return err;
	told->is_known = now > process->born_ns + EXEC_NS;
	return 0;
}

static void ask_again(struct publisher *p, const struct process *process,
		      struct told *told)
{
	if (told->is_young || clock_now_ns() > process->born_ns + EXEC_NS)
		return;
	told->is_young = true;
	publisher_note_error(p, vec_push(&p->young, process->tgid));
}

/* Keys are set when the first operation runs: which of too many those are shows. */
static void note_keys(struct publisher *p, struct told *told,
		      const struct key_count *keys)
{
	bool overfull = keys->set > KEYS_MAX;
	bool crowded = keys->candidates > KEYS_MAX;

	p->counts.overfull += overfull && !told->is_overfull;
	told->is_overfull |= overfull;
	p->counts.crowded += crowded && !told->is_crowded;
	told->is_crowded = crowded;
}

int publisher_tell(struct publisher *p, const struct process *process, struct told *told)
{
	struct published what = { 0 };
	struct key_count keys = keys_gather(&p->peek, p->files, process, &what);
	unsigned int n_keys = keys.candidates;
	int err = find_mapping_table(p, process, told);

	if (err)
		return err;
	note_keys(p, told, &keys);
	told->version = process_version(process);
	if (!n_keys && !told->mapping_table)
		return 0;
	if (told->mapping_table) {
		what.mapping_table = told->mapping_table->first;
		what.n_mappings = told->mapping_table->n_mappings;
		what.generation = told->mapping_table->generation;
	}
	err = identify(p, process, told);
	told->is_unclear = err != 0;
	if (err || !told->is_known)
		ask_again(p, process, told);
	what.start_ticks = told->life.start_ticks;
	what.start_stack = told->life.start_stack;
	if (!err && told->told_ns && !memcmp(&what, &told->what, sizeof(what)))
		return 0;
	if (!err)
		err = published_put(&p->config.maps, (pid_t)process->tgid, &what);
	if (err) { /* gone meanwhile, hidden, or no room: it goes unseen */
		p->counts.refused += err != -ESRCH && !told->is_young;
		log_verbose_paced(&p->pace, "%s", error_sentence());
		error_clear();
		return 0;
	}
	told->what = what;
	told->told_ns = clock_now_ns();
	p->counts.processes += n_keys && !told->has_keys;
	told->has_keys = n_keys;
	return 0;
}
