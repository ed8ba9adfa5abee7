/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes have mapped, in the form in which ticks look it up: a space a
 * version of a mapping list, so that processes which forked from each other
 * share one. A changed list is another space, on other pages; only tables that
 * arrive are put into pages that ticks may be reading.
 */
#ifndef WEFT_PUBLISH_SPACES_H
#define WEFT_PUBLISH_SPACES_H

#include "proc/process.h"
#include "publish/tables.h"
#include "sym/files.h"

struct space {
	uint64_t version; /* process_version() */
	uint32_t first, n_pages;
	uint32_t n_mappings, generation;
	uint32_t users;
	struct space_part *parts; /* by address, n_mappings of them */
};

struct spaces_config {
	const struct outside *outside;
	struct heap *heap;
	struct tables *tables;
	const struct files *files;
	bool all_by_table; /* act as if no code kept frame pointers */
};

struct spaces_counts {
	unsigned long made, refused; /* no room */
	unsigned long cut;	     /* mappings beyond UNWIND_MAPPINGS_MAX */
};

struct spaces;

int spaces_new(struct spaces **ret, const struct spaces_config *config);
void spaces_free(struct spaces *spaces); /* NULL is fine */
DEFINE_FREEP(spaces)

/* The space of what a process has mapped now; its caller uses it until
 * spaces_leave(). *ret is NULL when there is no room or nothing to tell. */
int spaces_use(struct spaces *spaces, const struct process *process, struct space **ret);

/* Another process shares it. */
void spaces_share(struct space *space);
void spaces_leave(struct spaces *spaces, struct space *space); /* NULL is fine */

/* A module's table came, and every space that maps it names it; or it leaves, and none
 * does. */
int spaces_update(struct spaces *spaces, uint32_t module);

/* Has it room for a mapping that begins there? One has only so many. */
bool spaces_holds(const struct space *space, uint64_t start);

/* Writes all of a space once more, as it should be by now. */
int spaces_renew(struct spaces *spaces, struct space *space);

const struct spaces_counts *spaces_counts(const struct spaces *spaces);

#endif
