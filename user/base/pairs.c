// SPDX-License-Identifier: BSD-2-Clause
#include "base/pairs.h"

#include "base/error.h"
#include "base/intern.h"

#include <errno.h>
#include <stdlib.h>

static size_t slot_of(const struct pairs *pairs, struct pair pair)
{
	return hash_bytes(&pair, sizeof(pair)) & pairs->mask;
}

/* At most two thirds full, so that a probe run ends soon. */
static int grow(struct pairs *pairs)
{
	size_t mask = pairs->mask ? pairs->mask * 2 + 1 : 255;
	size_t room = (mask + 1) / 3 * 2;
	uint32_t *slots = calloc(mask + 1, sizeof(*slots));
	struct pair *items = reallocarray(pairs->items, room, sizeof(*items));

	if (items)
		pairs->items = items;
	if (!slots || !items) {
		free(slots);
		return fail(-ENOMEM, "no memory for %zu pairs", room);
	}
	free(pairs->slots);
	pairs->slots = slots;
	pairs->mask = mask;
	pairs->room = room;
	for (size_t id = 0; id < pairs->n; id++) {
		size_t i = slot_of(pairs, items[id]);

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = (uint32_t)id + 1;
	}
	return 0;
}

int pairs_id(struct pairs *pairs, struct pair pair, size_t most, uint32_t *ret_id)
{
	size_t i;

	if (pairs->n == pairs->room && grow(pairs))
		return -ENOMEM;
	for (i = slot_of(pairs, pair); pairs->slots[i]; i = (i + 1) & pairs->mask) {
		const struct pair *item = &pairs->items[pairs->slots[i] - 1];

		if (item->a == pair.a && item->b == pair.b) {
			*ret_id = pairs->slots[i] - 1;
			return 0;
		}
	}
	if (pairs->n >= most)
		return PAIRS_FULL;
	pairs->items[pairs->n++] = pair;
	pairs->slots[i] = (uint32_t)pairs->n;
	*ret_id = (uint32_t)pairs->n - 1;
	return 0;
}

void pairs_free(struct pairs *pairs)
{
	free(pairs->items);
	free(pairs->slots);
	*pairs = (struct pairs){ 0 };
}
