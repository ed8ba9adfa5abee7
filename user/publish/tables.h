/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one register of modules' files, and by which unwind table the code of each is
 * walked. A file is asked for when it is first mapped; two things must be known of it:
 * its metadata, which relate addresses to those that the table is of, and the table,
 * looked up or made and put where the ticks find it. They come in any order, from
 * different workers, and one state says where both are: nothing uses a table before it
 * is READY. What came lies here as news until it is taken; nobody is called. When there
 * is no room for another, tables are taken back: those that nothing maps, that no sample
 * met, and of who has more than his share (tables_room.c).
 */
#ifndef WEFT_PUBLISH_TABLES_H
#define WEFT_PUBLISH_TABLES_H

#include "publish/page_allocator.h"
#include "publish/table_loader.h"
#include "sym/files.h"

#include <stdbool.h>

enum table_state {
	TABLE_NEW,    /* never asked for, or taken back */
	TABLE_NOTED,  /* it was mapped: its file is to be opened */
	TABLE_QUEUED, /* its file is open, and waits for its turn */
	TABLE_AWAITS_BOTH,
	TABLE_AWAITS_METADATA, /* its pages are there, but not to be used yet */
	TABLE_AWAITS_TABLE,
	TABLE_READY,
	TABLE_WITHOUT, /* by frame pointer: it has none, or the file can't be read */
	TABLE_REFUSED, /* no room */
	TABLE_LEAVING, /* taken back: its pages are as soon as no space names them */
};

struct table {
	enum table_state state;
	uint32_t first, n_pages;   /* READY, or while they come in */
	uint32_t flags;		   /* as of struct unwind_mapping; */
	struct unwind_rule hosted; /* of code that a HOST runs */
	uint32_t users;		   /* mapping tables that name it */
	unsigned int size;	   /* enum size_class */
	bool is_roots;	     /* asked for root, too, whose files are nobody's attack */
	bool was_urged;	     /* QUEUED: samples met it */
	bool is_asked_for;   /* of the workers, and they have not answered yet */
	bool was_missed;     /* WITHOUT: the file could not be opened */
	bool was_put_off;    /* NOTED: its user's budget was used up */
	bool was_refused;    /* it has had no room yet, or has none any more */
	bool was_named;	     /* READY: by some mapping table */
	uint64_t settled_ns; /* when it last became READY, WITHOUT or REFUSED */
	uint64_t unused_ns;  /* READY: since when it has no users */
	uint64_t hit_ns;     /* when a sample last led through its file */
	uid_t owner;	     /* of whom it was asked for */
	uid_t payer;	     /* whose turn it was */
	bool is_behind;	     /* whose budget was used up */
	bool is_worth_a_try; /* REFUSED: others went for it */
	uint32_t noted_tgid; /* NOTED: who maps it, and where */
	uint64_t noted_at;
	bool is_told; /* READY: ticks find it by its file (tables_told.c) */
	struct unwind_file_key told;
};

static inline bool table_is_awaited(const struct table *table)
{
	switch (table->state) {
	case TABLE_NOTED:
	case TABLE_QUEUED:
	case TABLE_AWAITS_BOTH:
	case TABLE_AWAITS_METADATA:
	case TABLE_AWAITS_TABLE:
		return true;
	default:
		return false;
	}
}

struct tables_counts {
	unsigned long ready, without, unreadable, refused, evicted;
	unsigned long over_budget; /* files read after all others, or not unless samples
				    * met them (sym/budgets.h) */
	unsigned long rows;
	unsigned long unread; /* files with code that was too much to be read */
	unsigned long pages;  /* in use now, those of mappings too */
	struct table_loader_counts loader;
};

enum news {
	NEWS_TABLE, /* it became READY, WITHOUT, REFUSED or LEAVING */
	NEWS_KEYS,  /* the file's metadata came, and say where async keys are */
};

struct module_news {
	uint32_t module;
	enum news process_info;
};

struct tables;

struct tables_config {
	const struct outside *outside;
	const struct publish_maps *maps;
	struct page_allocator
		*allocator; /* NULL: no tables are used; metadata alone are asked for */
	const struct module_table *modules;
	const struct process_table *processes;
	struct worker *worker;		  /* whose tables come here from now on */
	struct worker *large_file_worker; /* NULL: the same */
	struct opener *opener;		  /* of the files */
	pid_t command;			  /* sym/files.h */
	struct cache *cache;		  /* NULL: none */
	bool all_by_table;		  /* as of struct mapping_tables_config */
};

/* What the config names is borrowed. */
int tables_new(struct tables **ret, const struct tables_config *config);
void tables_free(struct tables *tables); /* NULL is fine */
DEFINE_FREEP(tables)

/* Opens a mapping's file, and queues it for all that has to be known of it, if that was
 * not done yet; it waits for the process's owner, too (publish/turns.h). */
int tables_request(struct tables *tables, const struct process *process,
		   const struct mapping *map);

/* The same of what was merely mapped: its file is opened by tables_open(). */
int tables_note(struct tables *tables, const struct process *process,
		const struct mapping *map);

/* Opens files that were noted, owners taking turns, as many as the rings can wait for; of
 * whose budget is used up none. true: there are more. */
bool tables_open(struct tables *tables);
bool tables_open_more(const struct tables *tables); /* as it said last */

/* Whoever pays for the process has cost us so much (sym/budgets.h). Is his budget used
 * up? */
void tables_charge(struct tables *tables, const struct process *process, uint64_t ns);
bool tables_are_over_budget(struct tables *tables, const struct process *process);

/* Samples wait for it: it goes before what its owner merely has mapped. */
int tables_urge(struct tables *tables, const struct process *process, uint32_t module);

/* Asks the workers for those whose turn it is, if they have little to do; false: for
 * none. How many still wait, but for noted ones. */
bool tables_pump(struct tables *tables);
unsigned int tables_queued(const struct tables *tables);

/* The first tick has come: from now on owners take turns (turns.h). */
void tables_start(struct tables *tables);

/* Is any awaited that root's processes map, or all do? */
bool tables_await_roots(const struct tables *tables);

/* NULL: never asked for, or taken back. Valid until the next tables_request(). What is of
 * a file is the same for all modules that are that file (files_same()). */
const struct table *tables_get(const struct tables *tables, uint32_t module);

/* A READY table that a mapping table names stays; one that none does may go. */
void tables_use(struct tables *tables, uint32_t module);
void tables_leave(struct tables *tables, uint32_t module, uint64_t now_ns);

/* For module_trim(): modules whose table is named or under way are needed; of what is
 * let go the pages are given back. */
void tables_mark_modules(const struct tables *tables, struct module_table *modules);
void tables_let_go(struct tables *tables, uint32_t module);

/* What came since, one after the other; false: no more. */
bool tables_next_news(struct tables *tables, struct module_news *ret);

/* The metadata, and the files themselves; borrowed. */
struct files *tables_files(const struct tables *tables);

/* What walking by those that were ready so far takes: enum tick_parts. */
unsigned int tables_parts(const struct tables *tables);

/* The first thing that went wrong where it could not be returned: the kernel would not
 * take what it was given. 0: nothing. */
int tables_error(const struct tables *tables);

/* Samples led through a module's file; of use only while room is short. */
bool tables_are_short(struct tables *tables);
void tables_hit(struct tables *tables, uint32_t module, uint64_t now_ns);

void tables_count(const struct tables *tables, struct tables_counts *ret);

#endif
