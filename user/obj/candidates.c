// SPDX-License-Identifier: BSD-2-Clause
#include "obj/candidates.h"

#include "base/error.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A made-up table can cover every query with every symbol; a real one covers
 * each a few times. */
#define WORK_MAX (1u << 26)

/* Of the range of addresses. The index has the first query of each. */
#define SECTIONS (1u << 10)

int candidates_new(struct candidates *batch, size_t room)
{
	*batch = (struct candidates){ .room = room };
	batch->items = calloc(room ? room : 1, sizeof(*batch->items));
	batch->index = calloc(SECTIONS + 1, sizeof(*batch->index));
	if (batch->items && batch->index)
		return 0;
	candidates_free(batch);
	return fail(-ENOMEM, "no memory for %zu addresses", room);
}

void candidates_free(struct candidates *batch)
{
	free(batch->items);
	free(batch->index);
	*batch = (struct candidates){ 0 };
}

void candidates_add(struct candidates *batch, uint64_t addr, size_t index)
{
	if (batch->n < batch->room)
		batch->items[batch->n++] = (struct query){ .addr = addr, .index = index };
}

static int by_addr(const void *a, const void *b)
{
	const struct query *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static size_t section_of(const struct candidates *batch, uint64_t addr)
{
	return (addr - batch->items[0].addr) >> batch->section_bits;
}

static void make_index(struct candidates *batch)
{
	uint64_t span =
		batch->n ? batch->items[batch->n - 1].addr - batch->items[0].addr : 0;
	size_t section = 0;

	for (batch->section_bits = 0; span >> batch->section_bits >= SECTIONS;)
		batch->section_bits++;
	for (size_t i = 0; i < batch->n; i++)
		while (section <= section_of(batch, batch->items[i].addr))
			batch->index[section++] = i;
	while (section <= SECTIONS)
		batch->index[section++] = batch->n;
}

void candidates_sort(struct candidates *batch)
{
	qsort(batch->items, batch->n, sizeof(*batch->items), by_addr);
	make_index(batch);
}

/* The first query that is not below addr. Asked for each of maybe a million symbols. */
static size_t lower_bound(const struct candidates *batch, uint64_t addr)
{
	const struct query *items = batch->items;
	size_t section, first;

	if (!batch->n || addr <= items[0].addr)
		return 0;
	if (addr > items[batch->n - 1].addr)
		return batch->n;
	section = section_of(batch, addr);
	first = batch->index[section];
	return first + LOWER_BOUND(batch->index[section + 1] - first, i,
				   items[first + i].addr < addr);
}

bool candidates_near(const struct candidates *batch, uint64_t start, bool label)
{
	size_t i = lower_bound(batch, start), last = label ? START_PART : START_FUNCTION;

	for (size_t kind = label; i < batch->n && kind <= last; kind++) {
		const struct candidate *below = &batch->items[i].below[kind];

		if (!below->end || start >= below->start)
			return true;
	}
	return false;
}

static bool beats(const struct candidate *a, const struct candidate *b)
{
	if (!b->end)
		return true;
	if (a->order != b->order)
		return a->order > b->order;
	if (a->sized != b->sized)
		return a->sized;
	return a->rank > b->rank;
}

void candidates_cover(struct candidates *batch, const struct candidate *symbol)
{
	for (size_t i = lower_bound(batch, symbol->start); i < batch->n; i++) {
		struct query *query = &batch->items[i];

		if (query->addr >= symbol->end || batch->work++ > WORK_MAX)
			return;
		if (beats(symbol, &query->covering))
			query->covering = *symbol;
	}
}

bool candidates_below(struct candidates *batch, const struct candidate *symbol)
{
	size_t i = lower_bound(batch, symbol->start);

	if (i == batch->n)
		return false;
	if (beats(symbol, &batch->items[i].below[symbol->kind]))
		batch->items[i].below[symbol->kind] = *symbol;
	return batch->items[i].addr < symbol->end;
}

const struct candidate *candidates_best(struct candidates *batch, size_t i)
{
	struct query *query = &batch->items[i];
	const struct candidate *best = query->below;

	for (size_t kind = 0; kind < N_SYMBOL_STARTS; kind++) {
		struct candidate *below = &query->below[kind];

		/* nothing starts between the query before and this one */
		if (i && !below->end)
			*below = query[-1].below[kind];
		if (below->end && (!best->end || below->start > best->start))
			best = below;
	}
	if (query->covering.end)
		return &query->covering;
	return best->sized || query->addr >= best->end ? NULL : best;
}

const struct candidate *candidates_start(const struct candidates *batch, size_t i,
					 enum symbol_start kind)
{
	const struct query *query = &batch->items[i];
	const struct candidate *below = &query->below[kind];

	if (below->sized || query->addr >= below->end)
		return NULL;
	for (size_t k = 0; k < kind; k++)
		if (query->below[k].end && query->below[k].start >= below->start)
			return NULL;
	return below;
}

uint64_t name_rank(const char *name, size_t n, bool local, bool weak)
{
	static const char *const plain[] = { "_Z", "_R", "__vdso_" };
	uint64_t underscores = 0, length = n < 255 ? n : 255;

	while (underscores < length && name[underscores] == '_')
		underscores++;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (n >= strlen(plain[i]) && !memcmp(name, plain[i], strlen(plain[i])))
			underscores = 0;
	return (uint64_t)!local << 17 | (255 - underscores) << 9 | (uint64_t)!weak << 8 |
	       (255 - length);
}
