// SPDX-License-Identifier: BSD-2-Clause
#include "core/module.h"

#include "base/error.h"
#include "base/intern.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

/* What tells modules apart; the path follows. pid and incarnation only where the
 * code is the process's own. */
struct module_identity {
	uint64_t ino;
	uint32_t kind, maj, min, pid, incarnation, reserved;
};

#define PATH_BYTES 4096

struct module_table {
	struct intern *identities;
	VEC(struct module) modules;
};

void module_table_free(struct module_table *table)
{
	if (!table)
		return;
	intern_free(table->identities);
	vec_free(&table->modules);
	free(table);
}

int module_table_new(struct module_table **ret)
{
	static const struct module always[] = {
		[MODULE_ID_UNMAPPED] = { .kind = MODULE_UNMAPPED, .path = "[unmapped]" },
		[MODULE_ID_KERNEL] = { .kind = MODULE_KERNEL, .path = "[kernel]" },
		[MODULE_ID_VDSO] = { .kind = MODULE_VDSO, .path = "[vdso]" },
	};
	AUTO(module_table) table = calloc(1, sizeof(*table));
	int err = table ? intern_new(&table->identities, MODULES_MAX) : -ENOMEM;

	if (err)
		return fail(-ENOMEM, "no memory for the modules");
	intern_limit_bytes(table->identities, MODULE_BYTES_MAX);
	for (uint32_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		uint32_t id;

		err = module_id(table, &always[i], &id);
		if (err)
			return err;
	}
	*ret = GIVE(table);
	return 0;
}

int module_id(struct module_table *table, const struct module *module, uint32_t *ret)
{
	unsigned char key[sizeof(struct module_identity) + PATH_BYTES];
	struct module_identity identity = {
		.kind = module->kind,
		.maj = module->maj,
		.min = module->min,
		.ino = module->ino,
		.pid = module->kind == MODULE_JIT ? module->pid : 0,
		.incarnation = module->kind == MODULE_JIT ? module->incarnation : 0,
	};
	size_t n = strnlen(module->path, PATH_BYTES - 1), bytes;
	struct module kept = *module;
	uint32_t id;
	int err;

	memcpy(key, &identity, sizeof(identity));
	memcpy(key + sizeof(identity), module->path, n);
	err = intern_id(table->identities, key, sizeof(identity) + n, &id);
	if (err)
		return err;
	if (id == table->modules.n) {
		kept.path = (const char *)intern_bytes(table->identities, id, &bytes) +
			    sizeof(identity);
		err = vec_push(&table->modules, kept);
		if (err)
			return err;
	}
	*ret = id;
	return 0;
}

const struct module *module_get(const struct module_table *table, uint32_t id)
{
	return &table->modules.items[id];
}

uint32_t module_count(const struct module_table *table)
{
	return (uint32_t)table->modules.n;
}
