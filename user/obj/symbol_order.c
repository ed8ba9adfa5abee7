// SPDX-License-Identifier: BSD-2-Clause
#include "obj/symbol_order.h"

#include "base/error.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>

struct placed {
	uint32_t start, end;  /* from the base */
	uint32_t reach;	      /* how far this one and all below it go */
	uint32_t number : 30; /* in the table */
	uint32_t kind : 2;
};

#define NUMBER_MAX ((1u << 30) - 1)
_Static_assert(N_SYMBOL_STARTS <= 4, "a kind has two bits");

struct symbol_order {
	uint64_t base;
	struct placed *items; /* by start */
	size_t n;
};

struct found_symbol {
	uint64_t start, end;
	uint32_t number;
	enum symbol_start kind;
};

/* A pass that gathers them. */
struct gathering {
	symbol_filter filter;
	void *arg;
	uint64_t lowest, highest;
	uint32_t number; /* of the next one */
	VEC(struct found_symbol) found;
};

static int gather(void *arg, const Elf64_Sym *sym)
{
	struct gathering *g = arg;
	struct found_symbol one = { sym->st_value, sym->st_value + sym->st_size,
				    g->number++, START_FUNCTION };

	if (!g->filter(g->arg, sym, &one.kind))
		return 0;
	if (g->found.n == SYMBOL_ORDER_MAX)
		return fail(-EFBIG, "too many symbols for an order");
	g->lowest = one.start < g->lowest ? one.start : g->lowest;
	g->highest = one.end > g->highest ? one.end : g->highest;
	return vec_push(&g->found, one);
}

#define DIGIT_BITS 8
#define DIGITS	   (32 / DIGIT_BITS) /* of a start */
#define DIGIT_MAX  (1u << DIGIT_BITS)

static unsigned int digit_of(const struct placed *one, unsigned int i)
{
	return one->start >> (i * DIGIT_BITS) & (DIGIT_MAX - 1);
}

/* By one digit, those that share it in the order in which they are. */
static void deal(const struct placed *from, struct placed *to, size_t n, unsigned int i)
{
	uint32_t places[DIGIT_MAX + 1] = { 0 };

	for (size_t k = 0; k < n; k++)
		places[digit_of(&from[k], i) + 1]++;
	for (size_t k = 1; k < DIGIT_MAX; k++)
		places[k] += places[k - 1];
	for (size_t k = 0; k < n; k++)
		to[places[digit_of(&from[k], i)]++] = from[k];
}

/* By start, digit by digit from the last: a fifth of the time of a sort by comparisons,
 * which was what an agent's parser did most. Leaves them where they were, since the
 * digits' number is even. 0 or -ENOMEM. */
static int sort_by_start(struct placed *items, size_t n)
{
	AUTO_FREE struct placed *other = calloc(n + 1, sizeof(*other));

	if (!other)
		return fail(-ENOMEM, "no memory to sort %zu symbols", n);
	for (unsigned int i = 0; i < DIGITS; i += 2) {
		deal(items, other, n, i);
		deal(other, items, n, i + 1);
	}
	return 0;
}

static int arrange(struct symbol_order *order, const struct gathering *g)
{
	size_t n = g->found.n;
	uint32_t reach = 0;
	int err;

	if (n && g->highest - g->lowest > UINT32_MAX)
		return fail(-EFBIG, "symbols too far apart for an order");
	order->items = calloc(n + 1, sizeof(*order->items));
	if (!order->items)
		return fail(-ENOMEM, "no memory for an order of %zu symbols", n);
	order->base = g->lowest;
	order->n = n;
	for (size_t i = 0; i < n; i++) {
		const struct found_symbol *one = &g->found.items[i];

		order->items[i] =
			(struct placed){ .start = (uint32_t)(one->start - g->lowest),
					 .end = (uint32_t)(one->end - g->lowest),
					 .number = one->number & NUMBER_MAX,
					 .kind = one->kind & 3 };
	}
	err = sort_by_start(order->items, n);
	for (size_t i = 0; !err && i < n; i++) {
		reach = order->items[i].end > reach ? order->items[i].end : reach;
		order->items[i].reach = reach;
	}
	return err;
}

int symbol_order_new(struct symbol_order **ret, struct elf_file *file,
		     const struct elf_table *table, symbol_filter filter, void *arg)
{
	AUTO(symbol_order) order = calloc(1, sizeof(*order));
	struct gathering g = { .filter = filter, .arg = arg, .lowest = UINT64_MAX };
	int err = order ? 0 : fail(-ENOMEM, "no memory for an order of symbols");

	if (!err && table->n_syms > NUMBER_MAX)
		err = fail(-EFBIG, "too many symbols for an order");
	if (!err && table->n_syms <= SYMBOL_ORDER_MAX)
		err = vec_reserve(&g.found, table->n_syms);
	if (!err)
		err = elf_table_symbols(file, table, gather, &g);
	if (!err)
		err = arrange(order, &g);
	vec_free(&g.found);
	if (err)
		return err;
	*ret = GIVE(order);
	return 0;
}

void symbol_order_free(struct symbol_order *order)
{
	if (!order)
		return;
	free(order->items);
	free(order);
}

size_t symbol_order_bytes(const struct symbol_order *order)
{
	return sizeof(*order) + (order->n + 1) * sizeof(*order->items);
}

int symbol_order_find(const struct symbol_order *order, uint64_t addr,
		      struct symbol_numbers *numbers)
{
	uint64_t at = addr - order->base;
	size_t i = addr < order->base
			   ? 0
			   : LOWER_BOUND(order->n, k, order->items[k].start <= at);
	uint32_t nearest = 0, kind = N_SYMBOL_STARTS; /* of the last one that is */
	int err = 0;

	/* down to where none reaches this far, and a function begins */
	while (!err && i--) {
		const struct placed *one = &order->items[i];

		if (one->kind < kind) {
			kind = one->kind;
			nearest = one->start;
		}
		if (one->reach <= at && kind == START_FUNCTION && one->start != nearest)
			return 0;
		if (numbers->steps++ == order->n)
			return fail(-EFBIG, "symbols cover each other too often");
		if (one->end > at || one->start == nearest)
			err = vec_push(&numbers->of, one->number);
	}
	return err;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void symbol_numbers_sort(struct symbol_numbers *numbers)
{
	size_t n = 0;

	vec_sort(&numbers->of, by_number);
	for (size_t i = 0; i < numbers->of.n; i++)
		if (!n || numbers->of.items[n - 1] != numbers->of.items[i])
			numbers->of.items[n++] = numbers->of.items[i];
	numbers->of.n = n;
}
