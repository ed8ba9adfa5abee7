/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What code lies in: a file, the vDSO, a process's own generated code, the
 * kernel. Each distinct one has a small number for the whole run, so that a
 * frame is {module, offset} and outlives the process that it was seen in.
 */
#ifndef WEFT_CORE_MODULE_H
#define WEFT_CORE_MODULE_H

#include "base/cleanup.h"

#include <stdint.h>

enum module_kind {
	MODULE_UNMAPPED, /* no mapping is known there; offset = address */
	MODULE_KERNEL,	 /* offset = address */
	MODULE_FILE,	 /* offset = in the file */
	MODULE_VDSO,	 /* offset = in its image */
	MODULE_JIT,	 /* generated code of one process; offset = address */
};

struct module {
	enum module_kind kind;
	uint32_t maj, min; /* MODULE_FILE: device of the inode */
	uint64_t ino;
	uint32_t pid;	      /* MODULE_JIT: whose; MODULE_FILE: first seen in */
	uint32_t incarnation; /* MODULE_JIT */
	const char *path;     /* as mapped, in the process's own root; never NULL */
};

#define MODULES_MAX	 (1u << 20)
#define MODULE_BYTES_MAX (64u << 20) /* of their paths */

struct module_table;

int module_table_new(struct module_table **ret);
void module_table_free(struct module_table *table);
DEFINE_FREEP(module_table)

enum { MODULE_ID_UNMAPPED, MODULE_ID_KERNEL, MODULE_ID_VDSO }; /* always there */

/* path is borrowed. 0, -ENOMEM, INTERN_FULL. */
int module_id(struct module_table *table, const struct module *module, uint32_t *ret);
const struct module *module_get(const struct module_table *table, uint32_t id);
uint32_t module_count(const struct module_table *table);

#endif
