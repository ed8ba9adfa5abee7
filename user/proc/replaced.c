// SPDX-License-Identifier: BSD-2-Clause
#include "proc/replaced.h"

#include "base/error.h"
#include "base/hmap.h"

#include <errno.h>
#include <stdlib.h>

/* Of who changes more than that until it is published, nothing is true any more. */
#define OPEN_MAX 64

struct stale_place {
	struct replaced_place is;
	uint64_t until_ns; /* UINT64_MAX: still */
	uint64_t before;   /* 1 + the number of this process's last one; 0: none */
	uint32_t tgid;
	bool is_back; /* it was over before ticks had its rules */
};

struct replaced {
	struct stale_place *places; /* NULL: none yet; by number, modulo REPLACED_MAX */
	uint64_t n;		    /* the next one's number */
	struct hmap last;	    /* 1 + number, by tgid */
	struct replaced_log log;
};

int replaced_new(struct replaced **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for what is replaced");
}

void replaced_free(struct replaced *replaced)
{
	if (!replaced)
		return;
	free(replaced->places);
	hmap_free(&replaced->last);
	free(replaced);
}

void replaced_tell(struct replaced *replaced, const struct replaced_log *log)
{
	replaced->log = *log;
}

/* The place of that number and 1, if it is still remembered. */
static struct stale_place *place_of(const struct replaced *r, uint64_t number)
{
	if (!number || number + REPLACED_MAX <= r->n)
		return NULL;
	return &r->places[(number - 1) % REPLACED_MAX];
}

static uint64_t last_of(const struct replaced *r, uint32_t tgid)
{
	return (uintptr_t)hmap_get(&r->last, tgid);
}

bool replaced_is_empty(const struct replaced *r, uint32_t tgid)
{
	return !last_of(r, tgid);
}

/* Who has no other place is forgotten with that. */
static void forget(struct replaced *r, const struct stale_place *place)
{
	if (r->n >= REPLACED_MAX && last_of(r, place->tgid) + REPLACED_MAX == r->n + 1)
		hmap_remove(&r->last, place->tgid);
}

static int add(struct replaced *r, uint32_t tgid, const struct replaced_place *place)
{
	struct stale_place *at;

	if (!r->places)
		r->places = calloc(REPLACED_MAX, sizeof(*r->places));
	if (!r->places)
		return fail(-ENOMEM, "no memory for what is replaced");
	at = &r->places[r->n % REPLACED_MAX];
	forget(r, at);
	*at = (struct stale_place){ *place, UINT64_MAX, last_of(r, tgid), tgid, false };
	r->n++;
	return hmap_put(&r->last, tgid, (void *)(uintptr_t)r->n)
		       ? fail(-ENOMEM, "no memory for what is replaced")
		       : 0;
}

/* Older ones than one that was over by being told of are over, too. */
static struct stale_place *next_open(const struct replaced *r, struct stale_place *place,
				     uint64_t time_ns)
{
	if (!place || (!place->is_back && place->until_ns <= time_ns))
		return NULL;
	return place_of(r, place->before);
}

/* Ends those that are open within *by, if any are; how many there are since ticks had all
 * rules. */
static unsigned int end_within(struct replaced *r, uint32_t tgid,
			       const struct replaced_place *by, bool *ret_any)
{
	struct stale_place *place = place_of(r, last_of(r, tgid));
	unsigned int n = 0;

	for (; place; n++, place = next_open(r, place, UINT64_MAX - 1)) {
		if (place->until_ns != UINT64_MAX || place->is.start >= by->end ||
		    by->start >= place->is.end)
			continue;
		place->until_ns = by->since_ns;
		place->is_back = true;
		*ret_any = true;
	}
	return n;
}

int replaced_put(struct replaced *r, uint32_t tgid, const struct replaced_place *place)
{
	const struct stale_place *last = place_of(r, last_of(r, tgid));
	struct replaced_place all = { 0, UINT64_MAX, place->since_ns, 0 };
	bool any = false;
	unsigned int n;
	int err = 0;

	if (last && last->is.end == UINT64_MAX && last->until_ns == UINT64_MAX)
		return 0;
	n = end_within(r, tgid, place, &any);
	if (n >= OPEN_MAX)
		place = &all;
	if (!place->is_back)
		err = add(r, tgid, place);
	else if (!any)
		return 0;
	if (!err && r->log.put)
		r->log.put(r->log.arg, tgid, place);
	return err;
}

void replaced_settle(struct replaced *r, uint32_t tgid, uint64_t now_ns)
{
	struct stale_place *place = place_of(r, last_of(r, tgid));
	bool any = false;

	for (; place; place = next_open(r, place, UINT64_MAX - 1)) {
		if (place->until_ns != UINT64_MAX)
			continue;
		place->until_ns = now_ns;
		any = true;
	}
	if (any && r->log.settled)
		r->log.settled(r->log.arg, tgid, now_ns);
}

bool replaced_is_stale(const struct replaced *r, uint32_t tgid, uint64_t addr,
		       uint64_t time_ns)
{
	struct stale_place *place = place_of(r, last_of(r, tgid));

	for (; place; place = next_open(r, place, time_ns))
		if (place->is.since_ns <= time_ns && time_ns < place->until_ns &&
		    addr - place->is.start < place->is.end - place->is.start)
			return true;
	return false;
}
