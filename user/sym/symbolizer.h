/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for all frames of an aggregator: a batch a module, each read once by the
 * parse worker, from the file's symbols, its debug file, a perf map, the vDSO
 * or the kernel's own list.
 */
#ifndef WEFT_SYM_SYMBOLIZER_H
#define WEFT_SYM_SYMBOLIZER_H

#include "core/names.h"
#include "sym/files.h"

struct symbolizer_counts {
	unsigned long modules;
	unsigned long failed;	      /* modules whose names could not be read */
	unsigned long inlines_sought; /* files whose debug information was asked for */
	unsigned long inlines_found;  /* of these, which have any of what ran */
	unsigned long inlines_failed; /* whose can't be read, or not in time */
	unsigned long refused;	      /* names, beyond what is kept of them */
	unsigned long foreign_maps;   /* perf maps of users who are not the process's */
};

/* Where names are looked for. All are borrowed. */
struct symbol_sources {
	const struct module_table *modules;
	const struct process_table *processes; /* whose a perf map is now */
	struct files *files;
	struct worker *worker;
	bool inlines; /* also what was inlined, and lines, where files tell */
};

/* Modules that can't be read are counted, not an error. */
int symbolize(struct names *names, const struct aggregator *aggregator,
	      const struct symbol_sources *sources, struct symbolizer_counts *ret_counts);

#endif
