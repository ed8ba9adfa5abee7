/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files behind modules: opened when first mapped, since the process that
 * leads to them may be gone soon, kept open for names, and scanned once in the
 * parse worker. Descriptors are limited; beyond the limit a file goes without.
 */
#ifndef WEFT_SYM_FILES_H
#define WEFT_SYM_FILES_H

#include "base/cleanup.h"
#include "core/module.h"
#include "obj/elf_scan.h"
#include "proc/open.h"
#include "proc/process.h"
#include "worker/worker.h"

enum file_state { FILE_NEW, FILE_SCANNING, FILE_KNOWN, FILE_UNREADABLE };

struct file_counts {
	unsigned long opened, unreadable, unparsable, over_limit;
	unsigned long overwritten; /* while we had them open */
};

/* Told when a file's ELF info is there; NULL: it cannot be had. */
typedef void (*file_sink)(void *arg, uint32_t module, const struct elf_info *info);

struct files;

/* worker and modules are borrowed and outlive the files. */
int files_new(struct files **ret, struct worker *worker,
	      const struct module_table *modules, file_sink sink, void *arg);
void files_free(struct files *files);
DEFINE_FREEP(files)

/* Opens and begins to scan a module's file, if that was not done yet; of generated
 * code, whose no file is, notes who its process belongs to. */
int files_request(struct files *files, const struct process *process,
		  const struct mapping *map);

/* Takes in what the worker has found; blocks up to wait_ms for all of it. */
int files_collect(struct files *files, int wait_ms);

/* Closes those that were written to since they were opened: what is in them now is
 * not what ran. */
void files_drop_overwritten(struct files *files);

enum file_state files_state(const struct files *files, uint32_t module);
const struct elf_info *files_elf_info(const struct files *files,
				      uint32_t module);	  /* or NULL */
int files_fd(const struct files *files, uint32_t module); /* borrowed, or -1 */

/* Of generated code: whose it was when it was last mapped. */
struct owner files_owner(const struct files *files, uint32_t module);

const struct file_counts *files_counts(const struct files *files);

#endif
