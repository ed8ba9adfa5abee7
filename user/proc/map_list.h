/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes map: executable mappings, by address, not overlapping. Processes that
 * forked from each other share a list, which is copied before one of them changes it.
 * A list without mappings is NULL.
 */
#ifndef WEFT_PROC_MAP_LIST_H
#define WEFT_PROC_MAP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPINGS_MAX	 (64u << 10) /* executable ones, a process */
#define MAPPINGS_ALL_MAX (2u << 20)  /* of all lists: an unmap is never told */

struct mapping {
	uint64_t start, end, pgoff;
	uint64_t born_ns;
	uint32_t module;
	bool is_jit;  /* offsets in its module are addresses */
	bool is_copy; /* of generated code: the module is a MODULE_COPY */
};

struct map_list;

/* All lists of a process table. */
struct map_lists {
	size_t n_mappings;
	uint64_t versions; /* the newest content of any list */
};

/* One more process has this list. Returns it. */
struct map_list *map_list_share(struct map_list *list);
/* A process has it no longer; the last one frees it. */
void map_list_put(struct map_lists *all, struct map_list *list);

/* For one mapping more, which may split another? Once half of all room is taken, a list
 * that has a 1,024th of what is left gets no more: so nobody takes all of it soon. */
bool map_list_has_room(const struct map_lists *all, const struct map_list *list);

/* Puts `map` where others may be: they keep what it leaves of them. The list that *list
 * is afterwards is nobody else's. -ENOMEM: *list says what it said. */
int map_list_add(struct map_lists *all, struct map_list **list,
		 const struct mapping *map);

/* The mapping at an address, NULL: none. Lives until the next _add(). */
const struct mapping *map_list_find(const struct map_list *list, uint64_t addr);

/*
 * A program may copy its text to memory of its own and put that where the text was, for
 * pages that are huge. So what lies in the middle of a file's mapped bytes is the file's:
 * changes *map to say so. false: it lies elsewhere.
 */
bool map_list_resolve_copy(const struct map_list *list, struct mapping *map);

/* All of them, by address. */
const struct mapping *map_list_items(const struct map_list *list, size_t *ret_n);

/* Lists of one version have the same mappings. 0: none. */
uint64_t map_list_version(const struct map_list *list);

#endif
