/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What code lies in: a file, the vDSO, a process's own generated code, the
 * kernel. Each distinct one has a small number, so that a frame is {module,
 * offset} and outlives the process that it was seen in.
 *
 * A number is good as long as somebody needs it: a window holds those of its
 * frames; who maps or reads a module says so when the table is gone through. What
 * nobody needed from one such time to the next is let go, and its number given to
 * another; a serial tells the two apart.
 */
#ifndef WEFT_CORE_MODULE_H
#define WEFT_CORE_MODULE_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum module_kind {
	MODULE_UNMAPPED, /* no mapping is known there; offset = address */
	MODULE_KERNEL,	 /* offset = address */
	MODULE_FILE,	 /* offset = in the file */
	MODULE_VDSO,	 /* offset = in its image */
	MODULE_JIT,	 /* generated code of one process; offset = address */
	MODULE_COPY,	 /* a copy of some of that, from which its table is made */
};

struct module {
	enum module_kind kind;
	uint32_t maj, min;    /* MODULE_FILE: device of the inode */
	uint64_t ino;	      /* MODULE_COPY: a number of its own */
	uint64_t begin, end;  /* MODULE_COPY: the addresses that were copied */
	uint32_t pid;	      /* MODULE_JIT: whose; MODULE_FILE: first seen in */
	uint32_t incarnation; /* MODULE_JIT */
	/* MODULE_FILE: may be written to where it is mapped as code, so what runs need
	 * not be what the file has */
	bool is_writable;
	const char *path; /* as mapped, in the process's own root; never NULL */
};

/* Is there a file to be opened? What has no inode is the kernel's own: [vsyscall]. */
static inline bool module_is_opened(const struct module *module)
{
	return (module->kind == MODULE_FILE || module->kind == MODULE_COPY) &&
	       module->ino;
}

#define MODULES_MAX	 (1u << 20)
#define MODULE_BYTES_MAX (64u << 20) /* of their paths, each at least 64 */

struct module_table;

int module_table_new(struct module_table **ret);
void module_table_free(struct module_table *table);
DEFINE_FREEP(module_table)

enum { MODULE_ID_UNMAPPED, MODULE_ID_KERNEL, MODULE_ID_VDSO }; /* always there */

/* path is borrowed. 0, -ENOMEM, INTERN_FULL. */
int module_id(struct module_table *table, const struct module *module, uint32_t *ret);

/* Of MODULE_BYTES_MAX; and does a path need none of it, since the module is there? */
size_t module_bytes_left(const struct module_table *table);
bool module_is_there(const struct module_table *table, const struct module *module);

/* NULL: the id is nobody's (now). */
const struct module *module_get(const struct module_table *table, uint32_t id);

/* All ids are below this; not all of them need be some module's. */
uint32_t module_count(const struct module_table *table);

/* The pid in the name of a file that a JIT maps to say that it is its dump, which is
 * jit-PID.dump in any folder, of bun's jit-TID-PID.dump or jit-TID-PID-XXXXXX; 0: it is
 * none. */
uint32_t module_jitdump_pid(const struct module *module);

/* Distinct for each module that there ever was; 0: the id is nobody's. */
uint64_t module_serial(const struct module_table *table, uint32_t id);

/* It stays until each that held it has released it. */
void module_hold(struct module_table *table, uint32_t id);
void module_release(struct module_table *table, uint32_t id);

/*
 * Time to go through the table: 1,024 more are there than were left the last time, or
 * somebody was refused.
 * Then: module_mark() all that are needed and not held, and module_trim(), which lets
 * go those that nobody marked, held, or asked for by module_id() since the trim
 * before. gone() is told of each while it is there.
 */
bool module_table_is_crowded(const struct module_table *table);
void module_mark(struct module_table *table, uint32_t id);
int module_trim(struct module_table *table, void (*gone)(void *arg, uint32_t id),
		void *arg);

struct module_counts {
	uint64_t now, let_go;
};

struct module_counts module_counts(const struct module_table *table);

#endif
