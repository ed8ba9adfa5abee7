// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whose table goes when there is no room for another. First what nothing maps any more;
 * then what no sample met for a while, of whom has more than his share before others';
 * then of who has more than his share what he used least lately, for who has less. What
 * is mapped is LEAVING until no mapping names it, and its pages rest, so the one that it
 * goes for is refused now, and asked for again when a sample still waits for it.
 */
#include "base/hmap.h"
#include "publish/tables_parts.h"

#define IDLE_NS	 5000000000ULL	/* longer than the first look may take */
#define UNHIT_NS 10000000000ULL /* no sample: who runs has one sooner */

/* Each table that finds no room looks at all others. Where so many that it takes longer
 * than this are there, each of another user's, it may take a 20th of our time. */
#define SEARCH_NS   1000000ULL
#define SEARCH_REST 19

struct share {
	uid_t owner;
	uint32_t n_pages;
};

struct shares {
	struct hmap by_owner; /* 1 + index */
	VEC(struct share) all;
	uint32_t fair; /* pages that each may have at least */
	uint64_t now_ns;
};

/* Tables that could go for another, those of least use first, and those that will. */
struct eviction {
	VEC(struct table *) all; /* NULL: chosen */
	VEC(struct table *) chosen;
	uint32_t n_pages; /* of these */
};

/* From the best one to go to the one that stays. */
enum worth { WORTH_NOTHING, WORTH_UNHIT_TOO_MANY, WORTH_UNHIT, WORTH_TOO_MANY, WORTH_IT };

void tables_give_back(struct tables *tables, struct table *table)
{
	if (table->first)
		page_allocator_release(tables->allocator, table->first, table->n_pages,
				       tables->outside->now_ns());
	table->first = table->n_pages = 0;
}

static struct share *share_of(const struct shares *shares, uid_t owner)
{
	uintptr_t index = (uintptr_t)hmap_get(&shares->by_owner, owner);

	return index ? &shares->all.items[index - 1] : NULL;
}

static int add_share(struct shares *shares, uid_t owner, uint32_t n_pages)
{
	struct share *share = share_of(shares, owner);
	int err;

	if (share) {
		share->n_pages += n_pages;
		return 0;
	}
	err = vec_push(&shares->all, (struct share){ owner, n_pages });
	return err ? err
		   : hmap_put(&shares->by_owner, owner, (void *)(uintptr_t)shares->all.n);
}

static int count_shares(const struct tables *tables, const struct table *for_whom,
			struct shares *shares)
{
	int err = add_share(shares, for_whom->owner, for_whom->n_pages);

	for (size_t i = 0; !err && i < tables->tables.n; i++) {
		const struct table *table = &tables->tables.items[i];

		if (table->state == TABLE_READY)
			err = add_share(shares, table->owner, table->n_pages);
	}
	if (!err)
		shares->fair = heap_pages(tables->allocator) / (uint32_t)shares->all.n;
	return err;
}

static void free_shares(struct shares *shares)
{
	hmap_free(&shares->by_owner);
	vec_free(&shares->all);
}

static bool has_too_many(const struct shares *shares, uid_t owner)
{
	const struct share *share = share_of(shares, owner);

	return share && share->n_pages > shares->fair;
}

static void take_share(struct shares *shares, const struct table *table)
{
	struct share *share = share_of(shares, table->owner);

	if (share)
		share->n_pages -= table->n_pages;
}

/* Of a table that is mapped: when it was last of use, as far as is known. */
static uint64_t hit_ns(const struct table *table)
{
	return table->hit_ns > table->settled_ns ? table->hit_ns : table->settled_ns;
}

/* While there was room enough nobody asked which were of use. */
static bool was_unhit(const struct tables *tables, const struct table *table,
		      uint64_t now_ns)
{
	uint64_t hit = hit_ns(table);
	uint64_t since = hit > tables->short_ns ? hit : tables->short_ns;

	return now_ns - since > UNHIT_NS;
}

static enum worth worth_of(const struct tables *tables, const struct shares *shares,
			   const struct table *table, const struct table *for_whom)
{
	bool too_many;

	if (table->state != TABLE_READY)
		return WORTH_IT;
	if (!table->users) /* nobody has come for it yet, or who asked for it is gone */
		return table->was_named || shares->now_ns - table->unused_ns > IDLE_NS
			       ? WORTH_NOTHING
			       : WORTH_IT;
	too_many = has_too_many(shares, table->owner);
	if (was_unhit(tables, table, shares->now_ns))
		return too_many ? WORTH_UNHIT_TOO_MANY : WORTH_UNHIT;
	return too_many && table->owner != for_whom->owner &&
			       !has_too_many(shares, for_whom->owner)
		       ? WORTH_TOO_MANY
		       : WORTH_IT;
}

static uint64_t last_ns(const struct table *table)
{
	return table->users ? hit_ns(table) : table->unused_ns;
}

static int by_last_use(const void *a, const void *b)
{
	uint64_t x = last_ns(*(struct table *const *)a);
	uint64_t y = last_ns(*(struct table *const *)b);

	return x < y ? -1 : x > y;
}

static int find_candidates(struct tables *tables, struct eviction *candidates)
{
	int err = 0;

	for (size_t i = 0; !err && i < tables->tables.n; i++)
		if (tables->tables.items[i].state == TABLE_READY)
			err = vec_push(&candidates->all, &tables->tables.items[i]);
	vec_sort(&candidates->all, by_last_use);
	return err;
}

/* Until as many pages are found as it needs. What goes makes its owner's share smaller,
 * so others of his may be worth more in the next round, and never less. */
static int choose(struct tables *tables, const struct table *for_whom,
		  struct shares *shares, struct eviction *of)
{
	int err = 0;

	for (int worth = WORTH_NOTHING; worth < WORTH_IT; worth++) {
		for (size_t i = 0;
		     !err && i < of->all.n && of->n_pages < for_whom->n_pages; i++) {
			struct table *table = of->all.items[i];

			if (!table ||
			    (int)worth_of(tables, shares, table, for_whom) != worth)
				continue;
			take_share(shares, table);
			of->n_pages += table->n_pages;
			of->all.items[i] = NULL;
			err = vec_push(&of->chosen, table);
		}
	}
	return err;
}

void tables_take_back(struct tables *tables, struct table *table)
{
	tables->counts.ready--;
	tables_take_word_back(tables, table);
	table->was_refused = true; /* who waits for it waits for room */
	if (table->users) {
		table->state = TABLE_LEAVING;
		tables_add_news(tables, (uint32_t)(table - tables->tables.items),
				NEWS_TABLE);
		return;
	}
	tables_give_back(tables, table);
	table->state = TABLE_NEW;
}

bool tables_are_short(struct tables *tables)
{
	bool is_short = tables->allocator && page_allocator_used(tables->allocator) >
						     heap_pages(tables->allocator) / 2;

	if (!is_short)
		tables->short_ns = 0;
	else if (!tables->short_ns)
		tables->short_ns = tables->outside->now_ns();
	return is_short;
}

/* After a search that took long. */
static void rest(struct tables *tables, uint64_t begun_ns)
{
	uint64_t now = tables->outside->now_ns();

	if (now - begun_ns > SEARCH_NS)
		tables->search_ns = now + (now - begun_ns) * SEARCH_REST;
}

/* Others go, unless it would not have room then either. */
static void make_room(struct tables *tables, struct table *for_whom)
{
	uint32_t left =
		heap_pages(tables->allocator) - page_allocator_used(tables->allocator);
	struct eviction candidates = { .n_pages = 0 };
	struct shares shares = { .now_ns = tables->outside->now_ns() };
	int err = count_shares(tables, for_whom, &shares);

	tables_are_short(tables);
	if (!err)
		err = find_candidates(tables, &candidates);
	if (!err)
		err = choose(tables, for_whom, &shares, &candidates);
	for_whom->is_worth_a_try = !err && candidates.chosen.n &&
				   left + candidates.n_pages >= for_whom->n_pages;
	for (size_t i = 0; for_whom->is_worth_a_try && i < candidates.chosen.n;
	     i++, tables->counts.evicted++)
		tables_take_back(tables, candidates.chosen.items[i]);
	tables_note_error(tables, err);
	vec_free(&candidates.all);
	vec_free(&candidates.chosen);
	free_shares(&shares);
	rest(tables, shares.now_ns);
}

uint32_t tables_take(struct tables *tables, struct table *table)
{
	uint64_t now = tables->outside->now_ns();
	uint32_t first = page_allocator_alloc(tables->allocator, table->n_pages, now);

	if (!first && now >= tables->search_ns)
		make_room(tables, table);
	else if (!first)
		table->is_worth_a_try = false;
	return first;
}
