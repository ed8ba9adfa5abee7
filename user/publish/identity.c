// SPDX-License-Identifier: BSD-2-Clause
#include "publish/identity.h"

#include "base/error.h"

#include <errno.h>

struct noted {
	struct map_place places[MAP_PLACES_MAX];
	unsigned int n;
};

/* What has no inode is the kernel's ([vsyscall], which lies in no process), or a name
 * for memory. */
static bool is_file(const struct module_table *modules, const struct mapping *map)
{
	const struct module *module = module_get(modules, map->module);

	return module->kind == MODULE_FILE && module->ino;
}

/* What was noted lies there, or nothing was. */
static bool holds(const struct outside *outside, const struct process *process,
		  const struct files *files, struct noted *noted)
{
	unsigned int n = noted->n;

	noted->n = 0;
	return !n || outside->is_mapped(files_opener(files), (pid_t)process->tgid,
					noted->places, n);
}

/* The files with keys, and those at both ends of what is mapped, must be where
 * we think: an exec of the very same file would move the others. */
static bool is_mapped_so(const struct outside *outside, const struct process *process,
			 const struct module_table *modules, const struct files *files)
{
	struct noted noted = { 0 };
	size_t n, first = 0, last;
	const struct mapping *maps = process_mappings(process, &n);

	while (first < n && !is_file(modules, &maps[first]))
		first++;
	for (last = n; last > first && !is_file(modules, &maps[last - 1]);)
		last--;
	for (size_t i = first; i < last; i++) {
		const struct elf_info *info = files_elf_info(files, maps[i].module);
		bool keyed = info && info->n_keys;

		if (!is_file(modules, &maps[i]) || (i > first && i + 1 < last && !keyed))
			continue;
		noted.places[noted.n++] =
			(struct map_place){ maps[i].start,
					    module_get(modules, maps[i].module)->ino };
		if (noted.n == MAP_PLACES_MAX && !holds(outside, process, files, &noted))
			return false;
	}
	return holds(outside, process, files, &noted);
}

int identity_read(const struct outside *outside, const struct process *process,
		  const struct module_table *modules, const struct files *files,
		  struct identity *ret)
{
	struct opener *opener = files_opener(files);
	pid_t tgid = (pid_t)process->tgid;
	uint64_t ticks, stack, ticks_after, stack_after;
	int err = outside->identity(opener, tgid, &ticks, &stack);

	if (!err && !is_mapped_so(outside, process, modules, files))
		return fail(-ESRCH, "pid %d now runs another program", tgid);
	if (!err)
		err = outside->identity(opener, tgid, &ticks_after, &stack_after);
	if (err)
		return err;
	if (ticks != ticks_after || stack != stack_after)
		return fail(-ESRCH, "pid %d now runs another program", tgid);
	*ret = (struct identity){ ticks, stack };
	return 0;
}
