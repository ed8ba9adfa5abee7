// SPDX-License-Identifier: BSD-2-Clause
#include "proc/opener_barred.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMES_MAX	  3		 /* of an owner, before he is barred */
#define FORGIVE_NS	  20000000000ULL /* after which one of these is forgotten */
#define BARRED_OWNERS_MAX 4096		 /* who has more users than that has one bucket */

struct barred_owner {
	uint64_t full_ns; /* when the last of what he did is forgotten */
};

static void forget(struct barred *barred, unsigned int i)
{
	close(barred->processes[i].fd);
	barred->n_processes--;
	memmove(&barred->processes[i], &barred->processes[i + 1],
		(barred->n_processes - i) * sizeof(barred->processes[0]));
}

void barred_free(struct barred *barred)
{
	struct barred_owner *owner;

	for (size_t i = 0; (owner = hmap_next(&barred->owners, &i));)
		free(owner);
	hmap_free(&barred->owners);
	while (barred->n_processes)
		forget(barred, barred->n_processes - 1);
}

/* Of one that has ended nobody can say whose it was. */
static uint64_t owner_key(const struct barred *barred, const struct owner *owner)
{
	uint64_t key = owner->known ? 1 + (uint64_t)owner->payer : 0;

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

/* A process's, or a thread's that is not its first (Linux 6.9 and later). */
static int open_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? (int)syscall(SYS_pidfd_open, pid, O_EXCL /* PIDFD_THREAD */) : fd;
}

/* When one began its stat tells, but not of one that is within an exec. */
static void add_process(struct barred *barred, pid_t pid, uint64_t until_ns)
{
	int fd = open_pidfd(pid);

	if (fd < 0) /* it has ended */
		return;
	if (barred->n_processes == BARRED_PROCESSES_MAX)
		forget(barred, 0);
	barred->processes[barred->n_processes++] =
		(struct barred_process){ pid, fd, until_ns };
}

bool barred_process(struct barred *barred, pid_t pid, uint64_t now_ns)
{
	for (unsigned int i = 0; i < barred->n_processes; i++) {
		struct pollfd end = { .fd = barred->processes[i].fd, .events = POLLIN };

		if (barred->processes[i].pid != pid)
			continue;
		if (!poll(&end, 1, 0) && now_ns < barred->processes[i].until_ns)
			return true;
		forget(barred, i);
		break;
	}
	return false;
}

bool barred_add(struct barred *barred, pid_t pid, uint64_t until_ns,
		const struct owner *whose, uint64_t now_ns)
{
	struct barred_owner *owner = owner_of(barred, owner_key(barred, whose));
	bool is_first;

	if (!barred_process(barred, pid, now_ns))
		add_process(barred, pid, until_ns);
	if (!owner)
		return true;
	is_first = owner->full_ns <= now_ns;
	owner->full_ns = (is_first ? now_ns : owner->full_ns) + FORGIVE_NS;
	return is_first;
}

bool barred_owner(struct barred *barred, const struct owner *whose, uint64_t now_ns)
{
	const struct barred_owner *owner =
		hmap_get(&barred->owners, owner_key(barred, whose));

	return owner && owner->full_ns > now_ns + (TIMES_MAX - 1) * FORGIVE_NS;
}
