// SPDX-License-Identifier: BSD-2-Clause
#include "publish/identity.h"

#include "base/error.h"

#include <errno.h>

static bool is_file(const struct module_table *modules, const struct mapping *map)
{
	return module_get(modules, map->module)->kind == MODULE_FILE;
}

/* The files with keys, and those at both ends of what is mapped, must be where
 * we think: an exec of the very same file would move the others. */
static bool is_mapped_so(const struct outside *outside, const struct process *process,
			 const struct module_table *modules, const struct files *files)
{
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
		if (!outside->is_mapped((pid_t)process->tgid, maps[i].start,
					module_get(modules, maps[i].module)->ino))
			return false;
	}
	return true;
}

int identity_read(const struct outside *outside, const struct process *process,
		  const struct module_table *modules, const struct files *files,
		  struct identity *ret)
{
	pid_t tgid = (pid_t)process->tgid;
	uint64_t ticks, stack, ticks_after, stack_after;
	int err = outside->identity(tgid, &ticks, &stack);

	if (!err && !is_mapped_so(outside, process, modules, files))
		return fail(-ESRCH, "pid %d now runs another program", tgid);
	if (!err)
		err = outside->identity(tgid, &ticks_after, &stack_after);
	if (err)
		return err;
	if (ticks != ticks_after || stack != stack_after)
		return fail(-ESRCH, "pid %d now runs another program", tgid);
	*ret = (struct identity){ ticks, stack };
	return 0;
}
