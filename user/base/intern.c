// SPDX-License-Identifier: BSD-2-Clause
#include "base/intern.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* Blocks grow up to this, so that a small table is small. */
#define BLOCK_BYTES_MIN (2u << 10)
#define BLOCK_BYTES_MAX (64u << 10)

#define TURN_PART      65536
#define TURN_BYTES_MIN 96

struct item {
	const void *bytes;
	uint32_t n;
	uint32_t hash;
};

struct intern_block {
	struct intern_block *next;
	size_t used, size;
	_Alignas(8) unsigned char bytes[];
};

struct intern {
	uint32_t *slots; /* id + 1, 0 = free */
	size_t mask;
	size_t max, max_bytes;
	size_t bytes;	   /* of the copies */
	size_t turn_bytes; /* that may still be added in this turn */
	VEC(struct item) items;
	struct intern_block *blocks;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Keyed once a run, so that nobody can prepare names that all collide. */
static uint64_t hash_seed(void)
{
	static uint64_t seed;

	if (!seed) {
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
			seed = 0x9e3779b97f4a7c15;
		seed |= 1;
	}
	return seed;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_seed() ^ n, word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = mix(h ^ word, 0xa0761d6478bd642f);
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return mix(h ^ word, 0xe7037ed1a0b428db);
}

int intern_new(struct intern **ret, size_t max_items)
{
	AUTO(intern) table = calloc(1, sizeof(*table));

	if (!table)
		return fail(-ENOMEM, "no memory for a table");
	table->max = max_items;
	table->max_bytes = table->turn_bytes = SIZE_MAX;
	table->mask = 255;
	table->slots = calloc(table->mask + 1, sizeof(*table->slots));
	if (!table->slots)
		return fail(-ENOMEM, "no memory for a table");
	*ret = GIVE(table);
	return 0;
}

void intern_limit_bytes(struct intern *table, size_t max_bytes)
{
	table->max_bytes = max_bytes;
}

void intern_begin_turn(struct intern *table)
{
	size_t left = table->max_bytes - table->bytes;

	table->turn_bytes = left;
	if (left >= table->max_bytes / 2)
		return;
	table->turn_bytes = left / TURN_PART;
	if (table->turn_bytes < TURN_BYTES_MIN)
		table->turn_bytes = TURN_BYTES_MIN;
}

void intern_end_turn(struct intern *table)
{
	table->turn_bytes = 0;
}

void intern_free(struct intern *table)
{
	if (!table)
		return;
	for (struct intern_block *b = table->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	vec_free(&table->items);
	free(table->slots);
	free(table);
}

static void *store(struct intern *table, size_t n)
{
	size_t need = (n + 1 + 7) & ~(size_t)7;
	struct intern_block *b = table->blocks;
	void *bytes;

	if (!b || b->size - b->used < need) {
		size_t size = b ? 2 * b->size : BLOCK_BYTES_MIN;

		if (size > BLOCK_BYTES_MAX)
			size = BLOCK_BYTES_MAX;
		if (size < need)
			size = need;

		b = malloc(sizeof(*b) + size);
		if (!b)
			return NULL;
		b->used = 0;
		b->size = size;
		b->next = table->blocks;
		table->blocks = b;
	}
	bytes = b->bytes + b->used;
	b->used += need;
	return bytes;
}

/* At most half full, so that a probe run ends soon. */
static int grow(struct intern *table)
{
	size_t mask = table->mask * 2 + 1;
	uint32_t *slots = calloc(mask + 1, sizeof(*slots));

	if (!slots)
		return fail(-ENOMEM, "no memory for a table of %zu", mask + 1);
	for (size_t id = 0; id < table->items.n; id++) {
		size_t i = table->items.items[id].hash & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = (uint32_t)id + 1;
	}
	free(table->slots);
	table->slots = slots;
	table->mask = mask;
	return 0;
}

static int add(struct intern *table, size_t slot, uint32_t hash, const void *bytes,
	       size_t n)
{
	unsigned char *copy = store(table, n);

	if (!copy)
		return fail(-ENOMEM, "no memory for %zu bytes", n);
	if (n)
		memcpy(copy, bytes, n);
	copy[n] = 0;
	table->bytes += n;
	table->turn_bytes -= n;
	if (vec_push(&table->items, (struct item){ copy, (uint32_t)n, hash }))
		return -ENOMEM;
	table->slots[slot] = (uint32_t)table->items.n;
	return 0;
}

/* Where these bytes are, or the free slot where they would be. */
static size_t find_slot(const struct intern *table, uint32_t hash, const void *bytes,
			size_t n)
{
	size_t i;

	for (i = hash & table->mask; table->slots[i]; i = (i + 1) & table->mask) {
		const struct item *item = &table->items.items[table->slots[i] - 1];

		if (item->hash == hash && item->n == n && !memcmp(item->bytes, bytes, n))
			break;
	}
	return i;
}

bool intern_find(const struct intern *table, const void *bytes, size_t n,
		 uint32_t *ret_id)
{
	uint32_t hash = (uint32_t)hash_bytes(bytes, n);
	uint32_t slot = table->slots[find_slot(table, hash, bytes, n)];

	if (slot)
		*ret_id = slot - 1;
	return slot;
}

bool intern_has(const struct intern *table, const void *bytes, size_t n)
{
	uint32_t id;

	return intern_find(table, bytes, n, &id);
}

int intern_id(struct intern *table, const void *bytes, size_t n, uint32_t *ret_id)
{
	uint32_t hash = (uint32_t)hash_bytes(bytes, n);
	size_t i;
	int err;

	if (table->items.n * 2 > table->mask) {
		err = grow(table);
		if (err)
			return err;
	}
	i = find_slot(table, hash, bytes, n);
	if (table->slots[i]) {
		*ret_id = table->slots[i] - 1;
		return 0;
	}
	if (table->items.n >= table->max || n > table->max_bytes - table->bytes ||
	    n > table->turn_bytes)
		return INTERN_FULL;
	err = add(table, i, hash, bytes, n);
	if (err)
		return err;
	*ret_id = (uint32_t)table->items.n - 1;
	return 0;
}

const void *intern_bytes(const struct intern *table, uint32_t id, size_t *ret_n)
{
	*ret_n = table->items.items[id].n;
	return table->items.items[id].bytes;
}

const char *intern_string(const struct intern *table, uint32_t id)
{
	return table->items.items[id].bytes;
}

size_t intern_count(const struct intern *table)
{
	return table->items.n;
}
