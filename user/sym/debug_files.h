/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that hold a module's symbols and debug information where the module itself
 * was stripped of them: looked for where distributions and linkers put them
 * (proc/open_debug.h), and taken only if the parse worker finds them to be of this build.
 */
#ifndef WEFT_SYM_DEBUG_FILES_H
#define WEFT_SYM_DEBUG_FILES_H

#include "base/cleanup.h"
#include "sym/debug_servers.h"
#include "sym/files.h"
#include "sym/split_files.h"

struct debug_counts {
	unsigned long found;
	unsigned long others; /* files at the right place, but of another build */
};

/* All are borrowed. */
struct debug_sources {
	const struct module_table *modules;
	const struct process_table *processes; /* NULL: below our root alone */
	const struct files *files;
	struct worker *worker;
	struct opener *opener; /* NULL: opened by ourselves */
	const char *symfs;     /* another folder with files like /'s; NULL: none */
	struct debug_servers *servers; /* NULL: nobody is asked */
};

struct debug_files;

/* As processes are now: who lives leads to the files of the root that he sees. */
int debug_files_new(struct debug_files **ret, const struct debug_sources *sources);
void debug_files_free(struct debug_files *debug);
DEFINE_FREEP(debug_files)

/* The debug file of a module, or -1. deadline_ms: for each look into a file. The
 * caller closes it. */
int debug_files_open(struct debug_files *debug, uint32_t module, int deadline_ms);

/* The same from servers, for what has no name otherwise. */
int debug_files_fetch(struct debug_files *debug, uint32_t module, int deadline_ms);

/* The alternate file of dwz that the debug file (or module) fd of a module names, here or
 * at servers, or -1. The caller closes it. */
int debug_files_alternate(struct debug_files *debug, uint32_t module, int fd,
			  int deadline_ms);

/* The .dwo files of a module, for a request of NAMES_SPLITS of its debug file, or of its
 * own (sym/split_files.h). */
void debug_files_splits(struct debug_files *debug, uint32_t module,
			const struct name_request *request, struct split_files *ret);

/* How long servers have kept us waiting. */
uint64_t debug_files_waited_ns(const struct debug_files *debug);

struct debug_counts debug_files_counts(const struct debug_files *debug);

#endif
