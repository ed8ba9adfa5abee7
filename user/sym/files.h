/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files behind modules: opened when first mapped, since the process that
 * leads to them may be gone soon, kept open for names, and scanned once in the
 * parse worker. Descriptors are limited; beyond the limit a file goes without.
 * A file that is mapped under several names is several modules, and one file: what is
 * asked of any of them is answered of the first that was opened.
 */
#ifndef WEFT_SYM_FILES_H
#define WEFT_SYM_FILES_H

#include "base/cleanup.h"
#include "core/module.h"
#include "obj/elf_scan.h"
#include "proc/open.h"
#include "proc/process.h"
#include "worker/worker.h"

enum file_state { FILE_NEW, FILE_OPEN, FILE_SCANNING, FILE_KNOWN, FILE_UNREADABLE };

struct file_counts {
	unsigned long opened, unreadable, unparsable, over_limit;
	unsigned long overwritten; /* while we had them open */
};

/* Told when a file's ELF info is there; NULL: it cannot be had. */
typedef void (*file_sink)(void *arg, uint32_t module, const struct elf_info *info);

struct files;

/* Where files come from; a test may be that. */
struct file_source {
	uint64_t (*now_ns)(void);
	/* proc/open.h */
	int (*open)(pid_t pid, const struct mapping *map, const struct module *module,
		    int *ret_fd);
	struct owner (*owner)(pid_t pid);
};

/* All are borrowed and outlive the files. */
struct files_config {
	struct worker *worker;
	const struct module_table *modules;
	const struct file_source *source; /* NULL: /proc */
	file_sink sink;
	void *arg;
};

int files_new(struct files **ret, const struct files_config *config);
void files_free(struct files *files);
DEFINE_FREEP(files)

/* Opens a module's file, if that was not done yet; of generated code, whose no file
 * is, notes who its process belongs to. */
int files_open(struct files *files, const struct process *process,
	       const struct mapping *map);

/* Begins to scan one that is OPEN; false: it is not, or that could not be asked. */
bool files_scan(struct files *files, uint32_t module);

/* The same module, or the one that was opened first of this very file. */
uint32_t files_same(const struct files *files, uint32_t module);

/* Both. */
int files_request(struct files *files, const struct process *process,
		  const struct mapping *map);

/* Takes in what the worker has found; blocks up to wait_ms for all of it. */
int files_collect(struct files *files, int wait_ms);

/* Closes those that were written to since they were opened: what is in them now is
 * not what ran. */
void files_drop_overwritten(struct files *files);

/* For module_trim(): what is being read is needed; and what is let go is closed. */
void files_mark_modules(const struct files *files, struct module_table *modules);
void files_let_go(struct files *files, uint32_t module);

enum file_state files_state(const struct files *files, uint32_t module);
const struct elf_info *files_elf_info(const struct files *files,
				      uint32_t module);	  /* or NULL */
int files_fd(const struct files *files, uint32_t module); /* borrowed, or -1 */

/* Of generated code: whose it was when it was last mapped. */
struct owner files_owner(const struct files *files, uint32_t module);

const struct file_counts *files_counts(const struct files *files);

#endif
