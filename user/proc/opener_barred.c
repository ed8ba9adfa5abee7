// SPDX-License-Identifier: BSD-2-Clause
#include "proc/opener_barred.h"

#include "base/cleanup.h"
#include "base/task_stat.h"
#include "proc/open.h"

#define TIMES_MAX	  3		 /* of an owner, before he is barred */
#define FORGIVE_NS	  20000000000ULL /* after which one of these is forgotten */
#define BARRED_OWNERS_MAX 4096		 /* who has more users than that has one bucket */

struct barred_owner {
	uint64_t full_ns; /* when the last of what he did is forgotten */
};

void barred_free(struct barred *barred)
{
	struct barred_owner *owner;

	for (size_t i = 0; (owner = hmap_next(&barred->owners, &i));)
		free(owner);
	hmap_free(&barred->owners);
	hmap_free(&barred->processes);
}

/* Of one that has ended nobody can say whose it was. */
static uint64_t owner_key(const struct barred *barred, pid_t pid)
{
	struct owner owner = open_owner(pid);
	uint64_t key = owner.known ? 1 + (uint64_t)owner.payer : 0;

	if (barred->owners.n >= BARRED_OWNERS_MAX && !hmap_get(&barred->owners, key))
		return 0;
	return key;
}

static struct barred_owner *owner_of(struct barred *barred, uint64_t key)
{
	struct barred_owner *owner = hmap_get(&barred->owners, key);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (owner && hmap_put(&barred->owners, key, owner)) {
		free(owner);
		return NULL;
	}
	return owner;
}

static uint64_t beginning(pid_t pid)
{
	struct task_stat stat;

	return task_stat_read(pid, &stat) ? 1 + stat.start_ticks : 0;
}

bool barred_add(struct barred *barred, pid_t pid, uint64_t now_ns)
{
	struct barred_owner *owner = owner_of(barred, owner_key(barred, pid));
	uint64_t begun = beginning(pid);
	bool is_first;

	if (begun)
		hmap_put(&barred->processes, (uint64_t)pid, (void *)(uintptr_t)begun);
	if (!owner)
		return true;
	is_first = owner->full_ns <= now_ns;
	owner->full_ns = (is_first ? now_ns : owner->full_ns) + FORGIVE_NS;
	return is_first;
}

static bool owner_is_barred(struct barred *barred, pid_t pid, uint64_t now_ns)
{
	const struct barred_owner *owner =
		hmap_get(&barred->owners, owner_key(barred, pid));

	return owner && owner->full_ns > now_ns + (TIMES_MAX - 1) * FORGIVE_NS;
}

bool barred_is(struct barred *barred, pid_t pid, uint64_t now_ns)
{
	uint64_t begun;

	if (!barred->owners.n) /* as always, nearly */
		return false;
	begun = (uintptr_t)hmap_get(&barred->processes, (uint64_t)pid);
	if (begun && begun == beginning(pid))
		return true;
	if (begun)
		hmap_remove(&barred->processes, (uint64_t)pid);
	return owner_is_barred(barred, pid, now_ns);
}
