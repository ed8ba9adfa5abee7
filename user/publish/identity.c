// SPDX-License-Identifier: BSD-2-Clause
#include "publish/identity.h"

#include "base/error.h"

#include <errno.h>

struct noted {
	struct map_place places[MAP_PLACES_MAX];
	unsigned int n;
	struct identity identity; /* as it was at the last look */
	bool was_seen;
};

/* What has no inode is the kernel's ([vsyscall], which lies in no process), or a name
 * for memory. */
static bool is_file(const struct module_table *modules, const struct mapping *map)
{
	const struct module *module = module_get(modules, map->module);

	return module->kind == MODULE_FILE && module->ino;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->start_ticks == b->start_ticks && a->start_stack == b->start_stack;
}

/* What was noted lies there, in the incarnation that is at hand each time. */
static int look(const struct outside *outside, const struct process *process,
		struct opener *opener, struct noted *noted)
{
	struct identity seen[2];
	int err = outside->identity(opener, (pid_t)process->tgid, noted->places, noted->n,
				    seen);

	if (err && err != -ESTALE)
		return err;
	if (err || !is_same(&seen[0], &seen[1]) ||
	    (noted->was_seen && !is_same(&seen[0], &noted->identity)))
		return fail(-ESRCH, "pid %u now runs another program", process->tgid);
	noted->identity = seen[1];
	noted->was_seen = true;
	noted->n = 0;
	return 0;
}

/* The files with keys, and those at both ends of what is mapped, must be where
 * we think: an exec of the very same file would move the others. */
int identity_read(const struct outside *outside, const struct process *process,
		  const struct module_table *modules, const struct files *files,
		  struct identity *ret)
{
	struct noted noted = { 0 };
	size_t n, first = 0, last;
	const struct mapping *maps = process_mappings(process, &n);
	int err = 0;

	while (first < n && !is_file(modules, &maps[first]))
		first++;
	for (last = n; last > first && !is_file(modules, &maps[last - 1]);)
		last--;
	for (size_t i = first; !err && i < last; i++) {
		const struct elf_info *info = files_elf_info(files, maps[i].module);
		bool keyed = info && info->n_keys;

		if (!is_file(modules, &maps[i]) || (i > first && i + 1 < last && !keyed))
			continue;
		noted.places[noted.n++] =
			(struct map_place){ maps[i].start,
					    module_get(modules, maps[i].module)->ino };
		if (noted.n == MAP_PLACES_MAX)
			err = look(outside, process, files_opener(files), &noted);
	}
	if (!err && (noted.n || !noted.was_seen))
		err = look(outside, process, files_opener(files), &noted);
	if (!err)
		*ret = noted.identity;
	return err;
}
