// SPDX-License-Identifier: BSD-2-Clause
#include "base/hmap.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

static size_t home(const struct hmap *map, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15) >> 20) & map->mask;
}

static size_t find(const struct hmap *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return i;
}

void *hmap_get(const struct hmap *map, uint64_t key)
{
	return map->slots ? map->slots[find(map, key)].value : NULL;
}

static int grow(struct hmap *map)
{
	size_t old_room = map->slots ? map->mask + 1 : 0;
	struct hmap_slot *old = map->slots;
	size_t room = old_room ? old_room * 2 : 64;
	struct hmap_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return fail(-ENOMEM, "no memory for a map of %zu", room);
	map->slots = slots;
	map->mask = room - 1;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].value)
			map->slots[find(map, old[i].key)] = old[i];
	free(old);
	return 0;
}

int hmap_put(struct hmap *map, uint64_t key, void *value)
{
	size_t i;

	if (!map->slots || map->n * 2 > map->mask) {
		int err = grow(map);

		if (err)
			return err;
	}
	i = find(map, key);
	if (!map->slots[i].value)
		map->n++;
	map->slots[i] = (struct hmap_slot){ key, value };
	return 0;
}

void *hmap_remove(struct hmap *map, uint64_t key)
{
	size_t hole, i;
	void *value;

	if (!map->slots)
		return NULL;
	hole = find(map, key);
	value = map->slots[hole].value;
	if (!value)
		return NULL;
	/* close the gap: whoever was pushed past the hole moves back into it */
	for (i = (hole + 1) & map->mask; map->slots[i].value; i = (i + 1) & map->mask) {
		size_t from_home = (i - home(map, map->slots[i].key)) & map->mask;

		if (from_home >= ((i - hole) & map->mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = NULL;
	map->n--;
	return value;
}

void hmap_free(struct hmap *map)
{
	free(map->slots);
	*map = (struct hmap){ 0 };
}

void *hmap_next(const struct hmap *map, size_t *i)
{
	while (map->slots && *i <= map->mask) {
		void *value = map->slots[(*i)++].value;

		if (value)
			return value;
	}
	return NULL;
}
