/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files behind modules: opened when first mapped, since the process that
 * leads to them may be gone soon, kept open for names, and scanned once in the
 * parse worker. Descriptors are limited, and so is the memory of copies, of all and of
 * each user; beyond the limit a file goes without.
 * A file that is mapped under several names is several modules, and one file: what is
 * asked of any of them is answered of the first that was opened.
 */
#ifndef WEFT_SYM_FILES_H
#define WEFT_SYM_FILES_H

#include "base/cleanup.h"
#include "core/module.h"
#include "obj/elf_scan.h"
#include "proc/opener.h"
#include "proc/process.h"
#include "sym/budgets.h"
#include "unwind/cache.h"
#include "worker/worker.h"

enum file_state { FILE_NEW, FILE_OPEN, FILE_SCANNING, FILE_KNOWN, FILE_UNREADABLE };

struct file_counts {
	unsigned long opened, unreadable, unparsable, over_limit;
	unsigned long copies_over_limit;
	unsigned long overwritten; /* while we had them open, and sampled */
	unsigned long copied;	   /* of these opened: see proc/open_copy.h */
	unsigned long known;	   /* from an earlier run, so nobody scanned them */
};

/* Told when a file's ELF info is there; NULL: it cannot be had. */
typedef void (*file_sink)(void *arg, uint32_t module, const struct elf_info *info);

struct files;

/* Where files come from; a test may be that. */
struct file_source {
	uint64_t (*now_ns)(void);
	/* proc/opener.h and open.h */
	int (*open)(struct opener *opener, pid_t pid, const struct mapping *map,
		    const struct module *module, int *ret_fd);
	struct owner (*owner)(struct opener *opener, pid_t pid);
};

/* All are borrowed and outlive the files. */
struct files_config {
	struct worker *worker;
	struct opener *opener; /* NULL: files are opened here, and may make us wait */
	struct cache *cache;   /* of what files hold; NULL: none */
	const struct module_table *modules;
	const struct file_source *source; /* NULL: /proc */
	pid_t command;			  /* our own, whose user is ours; 0: none */
	file_sink sink;
	void *arg;
};

int files_new(struct files **ret, const struct files_config *config);
void files_free(struct files *files);
DEFINE_FREEP(files)

enum { FILES_RENEWED = 1 };

/*
 * Opens a module's file, if that was not done yet; of generated code, whose no file
 * is, notes who its process belongs to. FILES_RENEWED: it was written over since it was
 * opened, so all that was known of it is forgotten, and it is open as it is now. It has
 * no names, since nobody knows which of its samples are of which bytes.
 */
int files_open(struct files *files, const struct process *process,
	       const struct mapping *map);

/* Begins to scan one that is OPEN; false: it is not, or that could not be asked, or is
 * KNOWN from before, of which the sink is not told. */
bool files_scan(struct files *files, uint32_t module);

/* The same module, or the one that was opened first of this very file. */
uint32_t files_same(const struct files *files, uint32_t module);

/* Takes in what the worker has found; blocks up to wait_ms for all of it. */
int files_collect(struct files *files, int wait_ms);

/* Closes those that were written to since they were opened: what is in them now is
 * not what ran. */
void files_drop_overwritten(struct files *files);

/* Of a module that has samples, behind that: it counts if it was. */
void files_note_sampled(struct files *files, uint32_t module);

/* Are so many open that it is time for module_trim()? */
bool files_are_many(const struct files *files);

/* For module_trim(): what is being read is needed; and what is let go is closed. */
void files_mark_modules(const struct files *files, struct module_table *modules);
void files_let_go(struct files *files, uint32_t module);

/* Of one that was opened: nobody will read it any more, though it is known. */
void files_close(struct files *files, uint32_t module);

/* Who opens them. */
struct opener *files_opener(const struct files *files);

/* Why it could not be opened so far, a negative errno; 0: it was, or nobody tried. */
int files_missed(const struct files *files, uint32_t module);

enum file_state files_state(const struct files *files, uint32_t module);
const struct elf_info *files_elf_info(const struct files *files,
				      uint32_t module);	  /* or NULL */
int files_fd(const struct files *files, uint32_t module); /* borrowed, or -1 */

/* As it was when it was opened; NULL: it is not open, or a copy is. */
const struct stat *files_opened(const struct files *files, uint32_t module);

#define FILES_UID_UNKNOWN 65534 /* nobody's: the kernel's word for who has no name */

/* Who could have written what its names are read from: of a file its owner, of generated
 * code who runs it; of a copy nobody can tell. */
uid_t files_uid(const struct files *files, uint32_t module);

/* Whom the time is counted to that its names take. Root's files: root. Else who maps it,
 * since a namespace's root gives files to any of its users (proc/payer.h); the file's
 * owner if others map it, too. */
uid_t files_payer(const struct files *files, uint32_t module);

/* Of generated code: whose it was when it was last mapped. */
struct owner files_owner(const struct files *files, uint32_t module);

/* Of the users whose files these are; borrowed. */
struct budgets *files_budgets(const struct files *files);

const struct file_counts *files_counts(const struct files *files);

#endif
