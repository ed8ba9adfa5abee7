/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash map from a 64-bit number to a pointer. Owns neither. One thread. */
#ifndef WEFT_BASE_HMAP_H
#define WEFT_BASE_HMAP_H

#include <stddef.h>
#include <stdint.h>

struct hmap_slot {
	uint64_t key;
	void *value; /* NULL = free */
};

struct hmap { /* {0} is an empty map */
	struct hmap_slot *slots;
	size_t mask, n;
};

void *hmap_get(const struct hmap *map, uint64_t key);	   /* NULL: none */
int hmap_put(struct hmap *map, uint64_t key, void *value); /* 0 or -ENOMEM */
void *hmap_remove(struct hmap *map, uint64_t key);	   /* what was there, or NULL */
void hmap_free(struct hmap *map);			   /* the slots only */

/* for (size_t i = 0; (v = hmap_next(map, &i));) — no put or remove meanwhile */
void *hmap_next(const struct hmap *map, size_t *i);

#endif
