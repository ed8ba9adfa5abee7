/* SPDX-License-Identifier: BSD-2-Clause */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * USERS)

static uint32_t scramble(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static void make_name(char *name, uint32_t seed)
{
	static const char *const syllables[] = { "ka",	"lo",  "mi", "re", "su",  "ta",
						 "ven", "dor", "li", "na", "bri", "on" };
	size_t n = 0;

	for (int i = 0; i < 4; i++) {
		const char *syllable = syllables[seed % 12];
		size_t bytes = strlen(syllable);

		memcpy(name + n, syllable, bytes);
		n += bytes;
		seed = scramble(seed);
	}
	name[n] = '\0';
}

static void put(struct store *store, uint32_t index, uint32_t number)
{
	static const char *const cities[] = { "Aarhus", "Bergen", "Cork",
					      "Delft",	"Evora",  "Florina" };
	struct user *user = &store->users[index];
	uint32_t slot = scramble(number) % SLOTS;

	user->number = number;
	user->cents = scramble(number ^ 0x5bd1e995u) % 10000000;
	user->city = cities[number % 6];
	make_name(user->name, scramble(number + 7));
	store->best[index] = user;
	while (store->slots[slot])
		slot = (slot + 1) % SLOTS;
	store->slots[slot] = index + 1;
}

struct store *store_new(void)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	for (uint32_t i = 0; i < USERS; i++)
		put(store, i, i * 7919 % USERS + 1); /* 7919 is prime: each once */
	store_rank(store);
	return store;
}

const struct user *store_find(struct store *store, uint32_t number)
{
	uint32_t slot = scramble(number) % SLOTS;

	for (; store->slots[slot]; slot = (slot + 1) % SLOTS) {
		struct user *user = &store->users[store->slots[slot] - 1];

		if (user->number == number) {
			user->visits++;
			user->cents += 17;
			return user;
		}
	}
	return NULL;
}

static int spent_more(const void *a, const void *b)
{
	const struct user *one = *(const struct user *const *)a;
	const struct user *two = *(const struct user *const *)b;

	if (one->cents != two->cents)
		return one->cents < two->cents ? 1 : -1;
	return one->number > two->number ? 1 : -1;
}

/* A heap sort of our own: a library's qsort() would be seen without callers
 * where libc is built without frame pointers. */
static void sift(const struct user **heap, size_t root, size_t n)
{
	const struct user *moved = heap[root];

	for (size_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && spent_more(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (spent_more(&heap[child], &moved) <= 0)
			break;
		heap[root] = heap[child];
	}
	heap[root] = moved;
}

void store_rank(struct store *store)
{
	for (size_t i = USERS / 2; i-- > 0;)
		sift(store->best, i, USERS);
	for (size_t n = USERS; n-- > 1;) {
		const struct user *last = store->best[0];

		store->best[0] = store->best[n];
		store->best[n] = last;
		sift(store->best, 0, n);
	}
}
