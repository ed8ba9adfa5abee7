// SPDX-License-Identifier: BSD-2-Clause
/* What ticks are told of one process: put together, and put where they find it. */
#include "publish/publisher_parts.h"

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

	if (!told || told->is_queued)
		return;
	told->is_queued = true;
	publisher_note_error(p, vec_push(&p->dirty, process->tgid));
}

/* A table may have been taken back since its file was mapped. */
static int want_all(struct publisher *p, const struct process *process)
{
	size_t n;
	const struct mapping *maps = process_mappings(process, &n);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = tables_want(p->tables, process, &maps[i]);
	return err;
}

static int find_space(struct publisher *p, const struct process *process,
		      struct told *told)
{
	struct space *old = told->space;
	int err;

	if (!p->spaces || (old && told->version == process_version(process)))
		return 0;
	err = want_all(p, process);
	if (err)
		return err;
	err = spaces_use(p->spaces, process, &told->space);
	if (old)
		spaces_leave(p->spaces, old);
	return err;
}

/*
 * Once an incarnation: what is told of an old one after it ended is no one's. One that
 * was young stays so until its turn has come to be asked again, whatever is read of it
 * meanwhile.
 */
static int identify(struct publisher *p, const struct process *process, struct told *told)
{
	bool was_young = told_is_young(told), is_young;
	int err;

	if (told->incarnation == INCARNATION_SETTLED)
		return 0;
	is_young = p->config.outside->now_ns() <= process->born_ns + EXEC_NS;
	err = identity_read(p->config.outside, process, p->config.modules, p->files,
			    &told->life);
	if (is_young || (err && was_young))
		told->incarnation = err ? INCARNATION_UNCLEAR : INCARNATION_PROVISIONAL;
	else
		told->incarnation = err ? INCARNATION_UNREAD : INCARNATION_SETTLED;
	if (is_young && !was_young)
		publisher_note_error(p, vec_push(&p->young, process->tgid));
	return err;
}

/* Keys are set when the first operation runs: which of too many those are shows. What
 * is set stays so, and an answer may fail to come, so once too many is too many. */
static void note_keys(struct publisher *p, struct told *told,
		      const struct key_count *keys)
{
	enum key_room room = KEYS_FIT;

	if (keys->candidates > KEYS_MAX)
		room = keys->set > KEYS_MAX || told->keys == TOO_MANY_KEYS_SET
			       ? TOO_MANY_KEYS_SET
			       : TOO_MANY_KEYS;
	p->counts.crowded += room != KEYS_FIT && told->keys == KEYS_FIT;
	p->counts.overfull += room == TOO_MANY_KEYS_SET && told->keys != room;
	told->keys = room;
}

int publisher_tell(struct publisher *p, const struct process *process, struct told *told)
{
	struct published what = { 0 };
	const struct key_reader from = { p->config.outside, p->files, &p->peek };
	struct key_count keys = keys_gather(&from, process, &what);
	unsigned int n_keys = keys.candidates;
	int err = find_space(p, process, told);

	if (err)
		return err;
	note_keys(p, told, &keys);
	told->version = process_version(process);
	if (!n_keys && !told->space)
		return 0;
	if (told->space) {
		what.space = told->space->first;
		what.n_mappings = told->space->n_mappings;
		what.generation = told->space->generation;
	}
	err = identify(p, process, told);
	what.start_ticks = told->life.start_ticks;
	what.start_stack = told->life.start_stack;
	if (!err && told->publication && !memcmp(&what, &told->what, sizeof(what)))
		return 0;
	if (!err)
		err = p->config.outside->put(&p->config.maps, (pid_t)process->tgid,
					     &what);
	if (err) { /* gone meanwhile, hidden, or no room: it goes unseen */
		p->counts.refused += err != -ESRCH && !told_is_young(told);
		log_verbose_paced(&p->pace, "%s", error_sentence());
		error_clear();
		return 0;
	}
	told->what = what;
	told->told_ns = p->config.outside->now_ns();
	p->counts.processes += n_keys && told->publication != PUBLISHED_KEYS;
	told->publication = n_keys ? PUBLISHED_KEYS : PUBLISHED_MAPPINGS;
	return 0;
}
