/* SPDX-License-Identifier: BSD-2-Clause */
/* What the register's own files share: tables.c has the states and takes answers,
 * tables_ask.c opens files and asks for what is not known of them, tables_noted.c has
 * those that are to be opened, tables_room.c their pages, tables_told.c tells ticks of
 * whole files. */
#ifndef WEFT_PUBLISH_TABLES_PARTS_H
#define WEFT_PUBLISH_TABLES_PARTS_H

#include "base/vec.h"
#include "publish/tables.h"
#include "publish/turns.h"

/* Which worker makes its table: a large file shall hold up none but such. */
enum size_class { SIZE_USUAL, SIZE_LARGE, N_SIZES }; /* lookup_is_large() */

struct tables {
	const struct outside *outside;
	const struct publish_maps *maps;
	bool all_by_table;
	struct page_allocator *allocator;
	struct files *files;
	const struct module_table *modules;
	const struct process_table *processes;
	struct table_loader *loader; /* NULL: no tables are used */
	VEC(struct module_news) news;
	size_t n_taken;		  /* of these */
	VEC(struct table) tables; /* by module, of those of one file the first */
	struct turns *noted;	  /* to be opened */
	bool open_more;		  /* there was no time for all that could be */
	struct turns *turns[N_SIZES];
	uint32_t asked_life; /* whose process's owner was asked last; 0: none */
	uid_t owner;
	unsigned int n_queued;	      /* that wait for their turn */
	unsigned int n_jobs[N_SIZES]; /* that the workers have */
	unsigned int parts;	      /* tables_parts() */
	struct tables_counts counts;
	uint64_t short_ns;  /* since when room is short; 0: it is not */
	uint64_t search_ns; /* nobody looks for room before */
	uint32_t serial;    /* the last that was given */
	int err;	    /* of a callback, which has no way to return it */
};

/* Of a module's file; NULL: it was never heard of. */
static inline struct table *tables_of(const struct tables *tables, uint32_t module)
{
	uint32_t same = files_same(tables->files, module);

	return same < tables->tables.n ? &tables->tables.items[same] : NULL;
}

static inline void tables_note_error(struct tables *tables, int err)
{
	if (err < 0 && !tables->err)
		tables->err = err;
}

static inline void tables_add_news(struct tables *tables, uint32_t module,
				   enum news process_info)
{
	const struct module_news news = { module, process_info };

	tables_note_error(tables, vec_push(&tables->news, news));
}

int tables_make_entry(struct tables *tables, uint32_t module);

/* Who pays for a process. */
uid_t tables_owner(struct tables *tables, const struct process *process);

/* Is it a file that was not opened yet by any name? */
bool tables_is_unopened(const struct tables *tables, uint32_t module);

/* Whoever maps it may have keys by its info, which may be NULL. */
void tables_tell_keys(struct tables *tables, uint32_t module,
		      const struct elf_info *info);

/* Room for all of a table's pages, or 0: none now; others may have to go for it. */
uint32_t tables_take(struct tables *tables, struct table *table);
void tables_give_back(struct tables *tables, struct table *table);

/* A READY one, to ticks that meet its file in a process that was not heard of yet; and
 * that it is not to be used any more. */
void tables_tell(struct tables *tables, struct table *table);
void tables_take_word_back(struct tables *tables, struct table *table);

/* Nothing is walked by a READY one any more; it may be asked for anew. */
void tables_take_back(struct tables *tables, struct table *table);

#endif
