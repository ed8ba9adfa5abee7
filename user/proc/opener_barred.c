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
#define BARRED_NS	  2000000000ULL	 /* after which a process is asked again */
#define BARRED_OWNERS_MAX 4096		 /* who has more users than that has one bucket */

struct barred_owner {
	uint64_t full_ns; /* when the last of what he did is forgotten */
	bool is_accused;  /* until then: it was said that one of his is never read */
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

static struct barred_process *find(struct barred *barred, pid_t pid)
{
	for (unsigned int i = 0; i < barred->n_processes; i++) {
		struct pollfd end = { .fd = barred->processes[i].fd, .events = POLLIN };

		if (barred->processes[i].pid != pid)
			continue;
		if (!poll(&end, 1, 0))
			return &barred->processes[i];
		forget(barred, i);
		break;
	}
	return NULL;
}

/* When one began its stat tells, but not of one that is within an exec. */
static struct barred_process *find_or_add(struct barred *barred, pid_t pid)
{
	struct barred_process *process = find(barred, pid);
	int fd = process ? -1 : open_pidfd(pid);

	if (process || fd < 0) /* it has ended */
		return process;
	if (barred->n_processes == BARRED_PROCESSES_MAX)
		forget(barred, 0);
	process = &barred->processes[barred->n_processes++];
	*process = (struct barred_process){ .pid = pid, .fd = fd };
	return process;
}

bool barred_process(struct barred *barred, pid_t pid, uint64_t now_ns)
{
	const struct barred_process *process = find(barred, pid);

	return process && now_ns < process->until_ns;
}

/* Is it for life? */
static bool add_process(struct barred *barred, pid_t pid, bool is_slow, uint64_t now_ns)
{
	struct barred_process *process = find_or_add(barred, pid);
	bool is_for_life = process && process->has_held && !is_slow;

	if (!process)
		return false;
	process->until_ns = is_for_life ? UINT64_MAX : now_ns + BARRED_NS;
	process->has_held |= !is_slow;
	return is_for_life;
}

enum barring barred_add(struct barred *barred, pid_t pid, bool is_slow,
			const struct owner *whose, uint64_t now_ns)
{
	struct barred_owner *owner = owner_of(barred, owner_key(barred, whose));
	bool is_for_life = add_process(barred, pid, is_slow, now_ns);
	bool is_new = !owner || owner->full_ns <= now_ns;
	bool is_accused = owner && !is_new && owner->is_accused;

	if (owner) {
		owner->full_ns = (is_new ? now_ns : owner->full_ns) + FORGIVE_NS;
		owner->is_accused = is_accused || is_for_life;
	}
	if (is_for_life)
		return is_accused ? BARRED_AGAIN : BARRED_FOR_LIFE;
	return is_new ? BARRED_A_WHILE : BARRED_AGAIN;
}

bool barred_owner(struct barred *barred, const struct owner *whose, uint64_t now_ns)
{
	const struct barred_owner *owner =
		hmap_get(&barred->owners, owner_key(barred, whose));

	return owner && owner->full_ns > now_ns + (TIMES_MAX - 1) * FORGIVE_NS;
}
