// SPDX-License-Identifier: BSD-2-Clause
#include "publish/turns.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct turn_line {
	VEC(uint32_t) modules;
	size_t first; /* what lies before has had its turn */
};

struct owner_turns {
	uid_t uid;
	struct turn_line lines[N_TURNS];
};

struct turns {
	const struct budgets *budgets;
	struct hmap by_owner;
	VEC(struct owner_turns *) owners; /* who has something that waits */
	size_t next;			  /* whose turn it is */
	bool has_started;
	struct hmap waiting; /* by owner, module and line */
};

int turns_new(struct turns **ret, const struct budgets *budgets)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return fail(-ENOMEM, "no memory for files that wait");
	(*ret)->budgets = budgets;
	return 0;
}

void turns_start(struct turns *turns)
{
	turns->has_started = true;
}

static void owner_free(struct owner_turns *owner)
{
	for (int i = 0; i < N_TURNS; i++)
		vec_free(&owner->lines[i].modules);
	free(owner);
}

void turns_free(struct turns *turns)
{
	if (!turns)
		return;
	for (size_t i = 0; i < turns->owners.n; i++)
		owner_free(turns->owners.items[i]);
	vec_free(&turns->owners);
	hmap_free(&turns->by_owner);
	hmap_free(&turns->waiting);
	free(turns);
}

static uint64_t key_of(uid_t owner, uint32_t module, enum turn turn)
{
	return (uint64_t)owner << 32 | (uint64_t)module << 1 | (turn == TURN_SAMPLED);
}

static struct owner_turns *owner_of(struct turns *turns, uid_t uid)
{
	uint64_t key = (uint64_t)uid + 1;
	struct owner_turns *owner = hmap_get(&turns->by_owner, key);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner || vec_push(&turns->owners, owner)) {
		free(owner);
		return NULL;
	}
	owner->uid = uid;
	if (!hmap_put(&turns->by_owner, key, owner))
		return owner;
	turns->owners.n--;
	free(owner);
	return NULL;
}

int turns_add(struct turns *turns, uid_t uid, uint32_t module, enum turn turn)
{
	uint64_t key = key_of(uid, module, turn);
	struct owner_turns *owner;

	if (hmap_get(&turns->waiting, key))
		return 0;
	owner = owner_of(turns, uid);
	if (!owner || hmap_put(&turns->waiting, key, owner))
		return fail(-ENOMEM, "no memory for a file that waits");
	return vec_push(&owner->lines[turn].modules, module);
}

static void compact(struct turn_line *line)
{
	size_t left = line->modules.n - line->first;

	if (line->first < left)
		return;
	memmove(line->modules.items, line->modules.items + line->first,
		left * sizeof(*line->modules.items));
	line->modules.n = left;
	line->first = 0;
}

/* False: it has none. */
static bool take_first(struct turns *turns, struct owner_turns *owner, uint32_t *ret)
{
	for (int i = 0; i < N_TURNS; i++) {
		struct turn_line *line = &owner->lines[i];

		if (line->first == line->modules.n)
			continue;
		*ret = line->modules.items[line->first++];
		hmap_remove(&turns->waiting, key_of(owner->uid, *ret, (enum turn)i));
		compact(line);
		return true;
	}
	return false;
}

static void drop_owner(struct turns *turns, size_t i)
{
	struct owner_turns *owner = turns->owners.items[i];

	hmap_remove(&turns->by_owner, (uint64_t)owner->uid + 1);
	turns->owners.items[i] = turns->owners.items[--turns->owners.n];
	owner_free(owner);
}

static bool is_over_budget(const struct turns *turns, size_t i, uint64_t now_ns)
{
	return budgets_are_over(turns->budgets, turns->owners.items[i]->uid, now_ns);
}

/* The next one with a budget, or the next one if nobody has any. */
static size_t next_owner(const struct turns *turns, uint64_t now_ns)
{
	for (size_t i = 0; !turns->has_started && i < turns->owners.n; i++)
		if (!turns->owners.items[i]->uid)
			return i;
	for (size_t i = 0; i < turns->owners.n; i++) {
		size_t at = (turns->next + i) % turns->owners.n;

		if (!is_over_budget(turns, at, now_ns))
			return at;
	}
	return turns->next % turns->owners.n;
}

bool turns_next(struct turns *turns, uint64_t now_ns, bool is_idle,
		struct turn_taken *ret)
{
	while (turns->owners.n) {
		size_t at = next_owner(turns, now_ns);
		struct owner_turns *owner = turns->owners.items[at];

		ret->owner = owner->uid;
		ret->is_over_budget = is_over_budget(turns, at, now_ns);
		if (ret->is_over_budget && !is_idle)
			return false;
		if (take_first(turns, owner, &ret->module)) {
			turns->next = at + 1;
			return true;
		}
		drop_owner(turns, at);
		turns->next = at;
	}
	return false;
}
