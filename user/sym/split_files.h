/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .dwo files that a program says to have its functions in, for the units that hold
 * some addresses, or the package (.dwp) beside it. The parse worker reads which
 * (obj/split_unit.h); they are taken by the rules of debug files (proc/open_debug.h).
 * Whether each is of this very unit is seen as it is read.
 */
#ifndef WEFT_SYM_SPLIT_FILES_H
#define WEFT_SYM_SPLIT_FILES_H

#include "obj/inlines.h"
#include "proc/opener.h"
#include "worker/worker.h"

struct split_files {
	struct split_file files[SPLIT_FILES_MAX];
	size_t n;
	unsigned long missing; /* or more than that */
};

struct split_search {
	struct worker *worker;
	struct opener *opener;	  /* NULL: opened by ourselves */
	struct debug_query query; /* where to look, but for the names */
	const char *path;	  /* of the module */
	struct name_request
		asked; /* of NAMES_SPLITS: the file, its addresses as linked */
};

void split_files_find(struct split_files *ret, struct split_search *search);
void split_files_close(struct split_files *files);

#endif
