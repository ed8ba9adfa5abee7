// SPDX-License-Identifier: BSD-2-Clause
#include "publish/wanted.h"

#include "base/error.h"
#include "sym/vdso.h"

#include <unistd.h>

static int ask_vdso(struct tables *tables, uint32_t module)
{
	int err, vdso = vdso_open();

	if (vdso < 0)
		error_clear(); /* its frames go by frame pointer, unproven */
	err = tables_want(tables, module, vdso);
	if (vdso >= 0)
		close(vdso);
	return err;
}

int wanted_ask(const struct wanted *wanted, const struct process *process,
	       const struct mapping *map)
{
	enum module_kind kind = module_get(wanted->modules, map->module)->kind;
	int err = files_want(wanted->files, process, map);

	if (err || !wanted->tables)
		return err;
	if (kind == MODULE_FILE)
		return tables_want(wanted->tables, map->module,
				   files_fd(wanted->files, map->module));
	if (kind == MODULE_VDSO && !tables_get(wanted->tables, map->module))
		return ask_vdso(wanted->tables, map->module);
	return 0;
}

enum delay_state wanted_state(void *arg, uint32_t module)
{
	const struct wanted *wanted = arg;
	const struct table *table =
		wanted->tables ? tables_get(wanted->tables, module) : NULL;
	const struct elf_facts *facts = files_facts(wanted->files, module);

	if (files_state(wanted->files, module) == FILE_SCANNING ||
	    (table && table->state == TABLE_AWAITED))
		return DELAY_WAITS;
	return facts && facts->n_keys ? DELAY_OVER_KEYED : DELAY_OVER;
}
