// SPDX-License-Identifier: BSD-2-Clause
#include "sym/name_turns.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"

#include <errno.h>

#define SHARERS_MAX 4  /* a file gets a fourth of what is left, if that many wait */
#define ROOM_MS	    20 /* left over less than this, nothing is begun */

struct name_owner {
	uid_t uid;
	uint64_t used_ns;
	size_t next;
	VEC(size_t) files;
};

struct name_turns {
	struct hmap by_uid; /* 1 + index */
	VEC(struct name_owner) owners;
	struct budgets *budgets;
	int64_t left_ns;
	uint64_t others_ns;
	size_t n_waiting; /* owners who are not root and have files left */
	size_t current;
};

int name_turns_new(struct name_turns **ret, int others_ms)
{
	struct name_turns *turns = calloc(1, sizeof(*turns));

	if (!turns)
		return fail(-ENOMEM, "no memory for names");
	turns->left_ns = others_ms * ONE_MS_NS;
	*ret = turns;
	return 0;
}

void name_turns_free(struct name_turns *turns)
{
	if (!turns)
		return;
	for (size_t i = 0; i < turns->owners.n; i++)
		vec_free(&turns->owners.items[i].files);
	vec_free(&turns->owners);
	hmap_free(&turns->by_uid);
	free(turns);
}

void name_turns_set_budgets(struct name_turns *turns, struct budgets *budgets)
{
	turns->budgets = budgets;
}

int name_turns_add(struct name_turns *turns, uid_t uid, size_t what)
{
	uintptr_t index = (uintptr_t)hmap_get(&turns->by_uid, uid);
	int err = 0;

	if (!index) {
		uint64_t used_ns = budgets_used_ns(turns->budgets, uid, clock_now_ns());

		err = vec_push(&turns->owners,
			       (struct name_owner){ .uid = uid, .used_ns = used_ns });
		index = turns->owners.n;
		if (!err)
			err = hmap_put(&turns->by_uid, uid, (void *)index);
		turns->n_waiting += uid != 0;
	}
	return err ? err : vec_push(&turns->owners.items[index - 1].files, what);
}

static bool goes_before(const struct name_owner *a, const struct name_owner *b)
{
	if (!a->uid != !b->uid)
		return !a->uid;
	return a->used_ns < b->used_ns;
}

static struct name_owner *next_owner(const struct name_turns *turns)
{
	struct name_owner *best = NULL;

	for (size_t i = 0; i < turns->owners.n; i++) {
		struct name_owner *owner = &turns->owners.items[i];

		if (owner->next < owner->files.n && (!best || goes_before(owner, best)))
			best = owner;
	}
	return best;
}

/* Who is alone has it all; or a file that is large and honest would go without. */
static int time_for_one(const struct name_turns *turns)
{
	size_t n = turns->n_waiting < SHARERS_MAX ? turns->n_waiting : SHARERS_MAX;
	int64_t ms = turns->left_ns / ONE_MS_NS;

	if (ms < ROOM_MS)
		return 0;
	ms /= (int64_t)n;
	return ms < NAME_TURN_MS ? (int)ms : NAME_TURN_MS;
}

bool name_turns_next(struct name_turns *turns, size_t *ret_what, int *ret_ms)
{
	struct name_owner *owner = next_owner(turns);

	if (!owner)
		return false;
	turns->current = (size_t)(owner - turns->owners.items);
	*ret_what = owner->files.items[owner->next++];
	*ret_ms = owner->uid ? time_for_one(turns) : NAME_TURN_MS;
	if (owner->uid && owner->next == owner->files.n)
		turns->n_waiting--;
	return true;
}

void name_turns_took(struct name_turns *turns, uint64_t ns)
{
	struct name_owner *owner = &turns->owners.items[turns->current];

	owner->used_ns += ns;
	if (turns->budgets)
		budgets_charge(turns->budgets, owner->uid, ns, clock_now_ns());
	if (!owner->uid)
		return;
	turns->left_ns -= (int64_t)ns;
	turns->others_ns += ns;
}

uint64_t name_turns_others_ns(const struct name_turns *turns)
{
	return turns->others_ns;
}
