/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes have mapped, in the form in which ticks look it up: a mapping table
 * a version of a mapping list, so that processes which forked from each other
 * share one. A changed list is another table, on other pages; only tables that
 * arrive are put into pages that ticks may be reading.
 */
#ifndef WEFT_PUBLISH_MAPPING_TABLES_H
#define WEFT_PUBLISH_MAPPING_TABLES_H

#include "proc/process.h"
#include "publish/tables.h"
#include "sym/files.h"

struct mapping_table {
	uint64_t version; /* process_version() */
	uint32_t first, n_pages;
	uint32_t n_mappings, generation;
	uint32_t users;
	struct mapping_entry *entries; /* by address, n_mappings of them */
	struct unwind_rule hosted;     /* of generated code, by what runs it: */
	uint32_t host;		       /* its table, or 0 */
};

struct mapping_tables_config {
	const struct outside *outside;
	struct page_allocator *allocator;
	struct tables *tables;
	const struct files *files;
	bool all_by_table; /* act as if no code kept frame pointers */
};

#define MAPPING_TABLES_CUT_MAX 8

struct mapping_tables_counts {
	unsigned long made, refused;		 /* no room */
	unsigned long cut;			 /* mappings beyond UNWIND_MAPPINGS_MAX */
	uint32_t cut_of[MAPPING_TABLES_CUT_MAX]; /* of these processes, the first ones */
	uint32_t n_cut_of; /* MAPPING_TABLES_CUT_MAX: of others, too, perhaps */
};

struct mapping_tables;

int mapping_tables_new(struct mapping_tables **ret,
		       const struct mapping_tables_config *config);
void mapping_tables_free(struct mapping_tables *all); /* NULL is fine */
DEFINE_FREEP(mapping_tables)

/* The mapping table of what a process has mapped now; its caller uses it until
 * mapping_tables_leave(). That may be `old`, the one before or NULL, once more: what was
 * mapped meanwhile comes to the same. *ret is NULL when there is no room or nothing to
 * tell. */
int mapping_tables_use(struct mapping_tables *all, const struct process *process,
		       struct mapping_table *old, struct mapping_table **ret);

/* Another process shares it. */
void mapping_tables_share(struct mapping_table *mapping_table);
void mapping_tables_leave(struct mapping_tables *all,
			  struct mapping_table *mapping_table); /* NULL is fine */

/* A module's table came, and every space that maps it names it; or it leaves, and none
 * does. */
int mapping_tables_update(struct mapping_tables *all, uint32_t module);

/* What walking code takes that was there beside its host so far: enum tick_parts. */
unsigned int mapping_tables_parts(const struct mapping_tables *all); /* NULL is fine */

/* What does it say of where *map is? */
enum mapping_told { TOLD_NOTHING, TOLD_THE_SAME, TOLD_OTHER_CODE };

enum mapping_told mapping_tables_told(const struct mapping_table *mapping_table,
				      const struct files *files,
				      const struct mapping *map);

/* Has it room for a mapping that begins there? One has only so many. */
bool mapping_tables_holds(const struct mapping_table *mapping_table, uint64_t start);

/* Writes all of a mapping table once more, as it should be by now. */
int mapping_tables_renew(struct mapping_tables *all, struct mapping_table *mapping_table);

/* For module_trim(): what a space names is needed. */
void spaces_mark_modules(const struct mapping_tables *all, struct module_table *modules);

const struct mapping_tables_counts *
mapping_tables_counts(const struct mapping_tables *all);

#endif
