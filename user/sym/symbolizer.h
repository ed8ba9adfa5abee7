/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for all frames of an aggregator: a batch a module, each read once by the
 * parse worker, from the file's symbols, its debug file, a perf map, the vDSO
 * or the kernel's own list. Of a window that was closed a module at a time, so that
 * samples are read in between.
 */
#ifndef WEFT_SYM_SYMBOLIZER_H
#define WEFT_SYM_SYMBOLIZER_H

#include "core/names.h"
#include "sym/debug_files.h"
#include "sym/name_cache.h"
#include "sym/files.h"
#include "sym/jitdumps.h"
#include "sym/jvm_names.h"
#include "sym/perf_maps.h"

struct symbolizer_counts {
	unsigned long modules;
	unsigned long failed;	      /* modules whose names could not be read */
	unsigned long out_of_time;    /* of these: the time for all was used up */
	uint64_t others_ns;	      /* that files took which are not root's */
	unsigned long inlines_sought; /* files whose debug information was asked for */
	unsigned long inlines_found;  /* of these, which have any of what ran */
	unsigned long inlines_failed; /* whose can't be read, or not in time */
	unsigned long refused;	      /* names, beyond what is kept of them */
	unsigned long foreign_maps;   /* perf maps of users who are not the process's */
	struct debug_counts debug;
	unsigned long bad_dumps; /* JITs' that can't be read, or not in time */
};

/* Where names are looked for. All are borrowed. */
struct symbol_sources {
	const struct module_table *modules;
	const struct process_table *processes; /* whose a perf map is now */
	struct files *files;
	struct worker *worker;
	struct opener *opener;		   /* NULL: as of the files */
	const struct jitdumps *jitdumps;   /* NULL: none */
	const struct perf_maps *perf_maps; /* NULL: none are kept */
	const struct jvm_names *jvm_names; /* NULL: no JVM was asked */
	struct name_cache *cache;	   /* what earlier windows found; NULL: nothing */
	/* A list like /proc/kallsyms of the kernel's functions that these addresses lie
	 * in: a descriptor, or a negative errno: all of them are read. NULL: as if so. */
	int (*kernel_symbols)(void *arg, const uint64_t *addrs, size_t n);
	void *kernel_symbols_arg;
	struct debug_servers *servers; /* NULL: nobody is asked */
	const char *symfs;	       /* sym/debug_files.h */
	int others_ms;		       /* for all files that are not root's */
	bool only_known; /* nothing is read: what the cache has, and labels */
	bool inlines;	 /* also what was inlined, and lines, where files tell */
};

struct symbolizer;

/* names, profile and the sources are borrowed and outlive it. */
int symbolizer_new(struct symbolizer **ret, struct names *names,
		   const struct aggregator *aggregator,
		   const struct symbol_sources *sources);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_FREEP(symbolizer)

enum { SYMBOLIZER_MORE = 1 };

/* One module more: SYMBOLIZER_MORE, 0 once all are done, or -ENOMEM. Modules that
 * can't be read are counted, not an error. */
int symbolizer_step(struct symbolizer *symbolizer);

/* All of it at once. */
int symbolize(struct names *names, const struct aggregator *aggregator,
	      const struct symbol_sources *sources, struct symbolizer_counts *ret_counts);

#endif
