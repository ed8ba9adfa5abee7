// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whose table goes when there is no room for another. First what nothing maps any more;
 * then what no sample met for a while, of whom has more than his share before others';
 * then of who has more than his share what he used least lately, for who has less. What
 * is mapped is LEAVING until no mapping names it, and its pages rest, so the one that it
 * goes for is refused now, and asked for again when a sample still waits for it.
 */
#include "publish/tables_parts.h"

#define IDLE_NS	 5000000000ULL	/* longer than the first look may take */
#define UNHIT_NS 10000000000ULL /* no sample: who runs has one sooner */

struct share {
	uid_t owner;
	uint32_t n_pages;
};

struct shares {
	VEC(struct share) all;
	uint32_t fair; /* pages that each may have at least */
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

static int add_share(struct shares *shares, uid_t owner, uint32_t n_pages)
{
	for (size_t i = 0; i < shares->all.n; i++) {
		if (shares->all.items[i].owner == owner) {
			shares->all.items[i].n_pages += n_pages;
			return 0;
		}
	}
	return vec_push(&shares->all, (struct share){ owner, n_pages });
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

static bool has_too_many(const struct shares *shares, uid_t owner)
{
	for (size_t i = 0; i < shares->all.n; i++)
		if (shares->all.items[i].owner == owner)
			return shares->all.items[i].n_pages > shares->fair;
	return false;
}

static void take_share(struct shares *shares, const struct table *table)
{
	for (size_t i = 0; i < shares->all.n; i++)
		if (shares->all.items[i].owner == table->owner)
			shares->all.items[i].n_pages -= table->n_pages;
}

/* Of a table that is mapped: when it was last of use, as far as is known. */
static uint64_t used_ns(const struct table *table)
{
	return table->hit_ns > table->settled_ns ? table->hit_ns : table->settled_ns;
}

static enum worth worth_of(const struct tables *tables, const struct shares *shares,
			   const struct table *table, const struct table *for_whom)
{
	uint64_t now = tables->outside->now_ns();
	bool too_many = has_too_many(shares, table->owner);

	if (table->state != TABLE_READY)
		return WORTH_IT;
	if (!table->users) /* nobody has come for it yet, or who asked for it is gone */
		return table->was_named || now - table->unused_ns > IDLE_NS
			       ? WORTH_NOTHING
			       : WORTH_IT;
	if (now - used_ns(table) > UNHIT_NS)
		return too_many ? WORTH_UNHIT_TOO_MANY : WORTH_UNHIT;
	return too_many && table->owner != for_whom->owner &&
			       !has_too_many(shares, for_whom->owner)
		       ? WORTH_TOO_MANY
		       : WORTH_IT;
}

static uint64_t last_ns(const struct table *table)
{
	return table->users ? used_ns(table) : table->unused_ns;
}

/* NULL: all of them are worth their room. */
static struct table *find_worst(struct tables *tables, const struct shares *shares,
				const struct table *for_whom)
{
	enum worth least = WORTH_IT;
	struct table *worst = NULL;

	for (size_t i = 0; i < tables->tables.n; i++) {
		struct table *table = &tables->tables.items[i];
		enum worth worth = worth_of(tables, shares, table, for_whom);

		if (worth == WORTH_IT || worth > least ||
		    (worst && worth == least && last_ns(table) >= last_ns(worst)))
			continue;
		worst = table;
		least = worth;
	}
	return worst;
}

static void take_back(struct tables *tables, struct table *table)
{
	tables->counts.evicted++;
	tables->counts.ready--;
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

/* Until as many pages were given back as it needs. */
static void make_room(struct tables *tables, struct table *for_whom)
{
	uint32_t n = for_whom->n_pages;
	struct shares shares = { 0 };
	struct table *worst;

	tables_note_error(tables, count_shares(tables, for_whom, &shares));
	while (n && (worst = find_worst(tables, &shares, for_whom))) {
		n -= n < worst->n_pages ? n : worst->n_pages;
		take_share(&shares, worst);
		take_back(tables, worst);
	}
	for_whom->is_worth_a_try = n < for_whom->n_pages;
	vec_free(&shares.all);
}

uint32_t tables_take(struct tables *tables, struct table *table)
{
	uint32_t first = page_allocator_alloc(tables->allocator, table->n_pages,
					      tables->outside->now_ns());

	if (!first)
		make_room(tables, table);
	return first;
}
