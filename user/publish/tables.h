/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind tables of files, by module: looked up or made when a file
 * is first mapped, put where the ticks find them, and taken back, least
 * recently used first, when there is no room for another.
 */
#ifndef WEFT_PUBLISH_TABLES_H
#define WEFT_PUBLISH_TABLES_H

#include "publish/heap.h"
#include "publish/lookup.h"

#include <stdbool.h>

enum table_state {
	TABLE_NEW,     /* never asked for, or taken back */
	TABLE_AWAITED, /* the worker is at it */
	TABLE_READY,
	TABLE_WITHOUT, /* the file has none, or can't be read */
	TABLE_REFUSED, /* no room */
};

struct table {
	enum table_state state;
	uint32_t first, n_pages; /* READY, or while they come in */
	uint32_t flags;		 /* as of struct unwind_mapping */
	uint32_t users;		 /* spaces that name it */
	bool was_missed;	 /* WITHOUT: the file could not be opened */
	uint64_t unused_ns;	 /* READY: since when it has no users; REFUSED: when */
};

struct tables_counts {
	unsigned long ready, without, unreadable, refused, taken_back;
	unsigned long rows;
	unsigned long pages; /* in use now, those of mappings too */
	struct lookup_counts lookup;
};

/* Told whenever a table became READY, WITHOUT or REFUSED. */
struct tables_sink {
	void *arg;
	void (*changed)(void *arg, uint32_t module);
};

struct tables;

struct tables_config {
	struct heap *heap;
	struct worker *worker; /* whose tables come here from now on */
	struct worker *heavy;  /* and of large files this one's; NULL: the same */
	struct cache *cache;   /* NULL: none */
	struct tables_sink sink;
};

/* What the config names is borrowed. */
int tables_new(struct tables **ret, const struct tables_config *config);
void tables_free(struct tables *tables); /* NULL is fine */
DEFINE_FREEP(tables)

/* Asks for the table of a module's file, if that was not done yet. fd is
 * borrowed; -1: the file cannot be opened. */
int tables_want(struct tables *tables, uint32_t module, int fd);

/* NULL: never asked for, or taken back. Valid until the next tables_want(). */
const struct table *tables_get(const struct tables *tables, uint32_t module);

/* A READY table that a space names stays; one that none does may go. */
void tables_use(struct tables *tables, uint32_t module);
void tables_leave(struct tables *tables, uint32_t module, uint64_t now_ns);

/* The kernel would not take what it was given; 0: nothing went wrong. */
int tables_error(const struct tables *tables);

void tables_count(const struct tables *tables, struct tables_counts *ret);

#endif
