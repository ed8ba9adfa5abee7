/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By which unwind table the code of each module is walked. A file is asked for when
 * it is first mapped; two things must be known of it: its metadata, which relate
 * addresses to those that the table is of, and the table, looked up or made and put
 * where the ticks find it. They come in any order, from different workers, and one
 * state says where both are: nothing uses a table before it is READY, and whoever
 * waits for a module is told once, when nothing is awaited any more. Tables are
 * taken back, least recently used first, when there is no room for another.
 */
#ifndef WEFT_PUBLISH_TABLES_H
#define WEFT_PUBLISH_TABLES_H

#include "publish/page_allocator.h"
#include "publish/table_loader.h"
#include "sym/files.h"

#include <stdbool.h>

enum table_state {
	TABLE_NEW, /* never asked for, or taken back */
	TABLE_AWAITS_BOTH,
	TABLE_AWAITS_METADATA, /* its pages are there, but not to be used yet */
	TABLE_AWAITS_TABLE,
	TABLE_READY,
	TABLE_WITHOUT, /* by frame pointer: it has none, or the file can't be read */
	TABLE_REFUSED, /* no room */
};

struct table {
	enum table_state state;
	uint32_t first, n_pages; /* READY, or while they come in */
	uint32_t flags;		 /* as of struct unwind_mapping */
	uint32_t users;		 /* mapping tables that name it */
	bool was_missed;	 /* WITHOUT: the file could not be opened */
	bool was_refused;	 /* it has had no room yet */
	bool was_named;		 /* READY: by some mapping table */
	uint64_t settled_ns;	 /* when it last became READY, WITHOUT or REFUSED */
	uint64_t unused_ns;	 /* READY: since when it has no users */
};

static inline bool table_is_awaited(const struct table *table)
{
	return table->state >= TABLE_AWAITS_BOTH && table->state <= TABLE_AWAITS_TABLE;
}

struct tables_counts {
	unsigned long ready, without, unreadable, refused, taken_back;
	unsigned long rows;
	unsigned long pages; /* in use now, those of mappings too */
	struct table_loader_counts loader;
};

/* Told whenever a table became READY, WITHOUT or REFUSED. */
struct tables_sink {
	void *arg;
	void (*changed)(void *arg, uint32_t module);
};

struct tables;

struct tables_config {
	struct page_allocator *allocator;
	struct files *files;
	const struct module_table *modules;
	struct worker *worker;		  /* whose tables come here from now on */
	struct worker *large_file_worker; /* NULL: the same */
	struct cache *cache;		  /* NULL: none */
	struct tables_sink sink;
};

/* What the config names is borrowed. */
int tables_new(struct tables **ret, const struct tables_config *config);
void tables_free(struct tables *tables); /* NULL is fine */
DEFINE_FREEP(tables)

/* Asks for all that has to be known of a mapping's file, if that was not done yet. */
int tables_request(struct tables *tables, const struct process *process,
		   const struct mapping *map);

/* The metadata of a module's file are there, or (false) cannot be had. */
void tables_on_metadata(struct tables *tables, uint32_t module, bool are_there);

/* NULL: never asked for, or taken back. Valid until the next tables_request(). */
const struct table *tables_get(const struct tables *tables, uint32_t module);

/* A READY table that a mapping table names stays; one that none does may go. */
void tables_use(struct tables *tables, uint32_t module);
void tables_leave(struct tables *tables, uint32_t module, uint64_t now_ns);

/* The kernel would not take what it was given; 0: nothing went wrong. */
int tables_error(const struct tables *tables);

void tables_count(const struct tables *tables, struct tables_counts *ret);

#endif
