// SPDX-License-Identifier: BSD-2-Clause
#include "proc/map_list.h"

#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct map_list {
	unsigned int refs;
	uint64_t version;	  /* distinct for each content of each list */
	VEC(struct mapping) maps; /* by start, not overlapping */
};

struct map_list *map_list_share(struct map_list *list)
{
	if (list)
		list->refs++;
	return list;
}

void map_list_put(struct map_lists *all, struct map_list *list)
{
	if (!list || --list->refs)
		return;
	all->n_mappings -= list->maps.n;
	vec_free(&list->maps);
	free(list);
}

bool map_list_has_room(const struct map_lists *all, const struct map_list *list)
{
	size_t n = list ? list->maps.n : 0;
	size_t more = list && list->refs > 1 ? n + 2 : 2;
	size_t left = MAPPINGS_ALL_MAX - all->n_mappings;

	return n < MAPPINGS_MAX && more <= left &&
	       (left > MAPPINGS_ALL_MAX / 2 || n < left / 1024);
}

/* Makes sure that a change of the list is seen by this process alone. */
static int own(struct map_lists *all, struct map_list **list)
{
	struct map_list *old = *list, *copy;

	if (old && old->refs == 1)
		return 0;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return fail(-ENOMEM, "no memory for mappings");
	copy->refs = 1;
	if (old && old->maps.n) {
		if (vec_reserve(&copy->maps, old->maps.n)) {
			map_list_put(all, copy);
			return -ENOMEM;
		}
		memcpy(copy->maps.items, old->maps.items,
		       old->maps.n * sizeof(struct mapping));
		copy->maps.n = old->maps.n;
		copy->version = old->version;
		all->n_mappings += copy->maps.n;
	}
	map_list_put(all, old);
	*list = copy;
	return 0;
}

/* The first mapping that ends above addr. */
static size_t lower_bound(const struct map_list *list, uint64_t addr)
{
	return LOWER_BOUND(list->maps.n, i, list->maps.items[i].end <= addr);
}

static int replace(struct map_list *list, const struct mapping *map)
{
	size_t first = lower_bound(list, map->start), last = first, n = 0;
	struct mapping put[3];
	size_t tail;

	while (last < list->maps.n && list->maps.items[last].start < map->end)
		last++;
	if (first < last && list->maps.items[first].start < map->start) {
		put[n] = list->maps.items[first];
		put[n++].end = map->start;
	}
	put[n++] = *map;
	if (first < last && list->maps.items[last - 1].end > map->end) {
		put[n] = list->maps.items[last - 1];
		put[n].pgoff += map->end - put[n].start;
		put[n++].start = map->end;
	}
	if (vec_reserve(&list->maps, n))
		return -ENOMEM;
	tail = list->maps.n - last;
	memmove(list->maps.items + first + n, list->maps.items + last,
		tail * sizeof(struct mapping));
	memcpy(list->maps.items + first, put, n * sizeof(struct mapping));
	list->maps.n = first + n + tail;
	return 0;
}

int map_list_add(struct map_lists *all, struct map_list **list, const struct mapping *map)
{
	int err = own(all, list);

	if (err)
		return err;
	all->n_mappings -= (*list)->maps.n;
	err = replace(*list, map);
	all->n_mappings += (*list)->maps.n;
	if (!err)
		(*list)->version = ++all->versions;
	return err;
}

const struct mapping *map_list_find(const struct map_list *list, uint64_t addr)
{
	size_t i;

	if (!list)
		return NULL;
	i = lower_bound(list, addr);
	if (i == list->maps.n || list->maps.items[i].start > addr)
		return NULL;
	return &list->maps.items[i];
}

bool map_list_resolve_copy(const struct map_list *list, struct mapping *map)
{
	const struct mapping *before = map_list_find(list, map->start - 1);
	const struct mapping *after = map_list_find(list, map->end);

	if (!before || !after || before->is_jit || after->is_jit ||
	    before->module != after->module ||
	    before->start - before->pgoff != after->start - after->pgoff)
		return false;
	map->module = before->module;
	map->pgoff = map->start - (before->start - before->pgoff);
	map->is_jit = map->is_copy = false;
	return true;
}

const struct mapping *map_list_items(const struct map_list *list, size_t *ret_n)
{
	*ret_n = list ? list->maps.n : 0;
	return list ? list->maps.items : NULL;
}

uint64_t map_list_version(const struct map_list *list)
{
	return list ? list->version : 0;
}
