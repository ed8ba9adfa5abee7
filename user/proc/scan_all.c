// SPDX-License-Identifier: BSD-2-Clause
#include "proc/scan_all.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>

struct long_one {
	pid_t tgid;
	bool is_roots;
	uintptr_t turn; /* how many of its payer's came before it */
};

struct scan_of_all {
	struct opener *opener;
	const struct process_table *known;
	const struct event_sink *sink;
	VEC(struct long_one) long_ones;
	size_t n_records; /* handed on */
};

static int count(void *arg, const void *bytes, size_t n)
{
	struct scan_of_all *all = arg;

	all->n_records++;
	return all->sink->sideband(all->sink->arg, bytes, n);
}

static int read_short_ones(struct scan_of_all *all)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return fail_errno(-errno, "cannot read /proc");
	while (!err && !signals_pend() && (entry = readdir(proc))) {
		pid_t tgid = (pid_t)atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		err = scan_again_short(all->opener, all->known, tgid, all->sink);
		if (err == -E2BIG)
			err = vec_push(&all->long_ones,
				       (struct long_one){ .tgid = tgid });
	}
	closedir(proc);
	return err;
}

static int give_turns(struct scan_of_all *all)
{
	struct hmap turns = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < all->long_ones.n; i++) {
		struct long_one *one = &all->long_ones.items[i];
		struct owner owner = opener_owner(all->opener, one->tgid);

		one->is_roots = owner.known && !owner.uid && !owner.payer;
		one->turn = (uintptr_t)hmap_get(&turns, owner.payer);
		err = hmap_put(&turns, owner.payer, (void *)(one->turn + 1));
	}
	hmap_free(&turns);
	return err;
}

static int by_turn(const void *a, const void *b)
{
	const struct long_one *one = a, *other = b;

	if (one->is_roots != other->is_roots)
		return one->is_roots ? -1 : 1;
	if (one->turn != other->turn)
		return one->turn < other->turn ? -1 : 1;
	return one->tgid < other->tgid ? -1 : one->tgid > other->tgid;
}

/* One that is known stays as it is. */
static int leave(const struct scan_of_all *all, pid_t tgid)
{
	if (all->known && process_get(all->known, (uint32_t)tgid))
		return 0;
	return scan_name(tgid, clock_now_ns(), all->sink);
}

static int read_long_ones(struct scan_of_all *all)
{
	const struct event_sink counted = { .arg = all, .sideband = count };
	size_t n_left = 0;
	int err = 0;

	for (size_t i = 0; !err && !signals_pend() && i < all->long_ones.n; i++) {
		const struct long_one *one = &all->long_ones.items[i];

		if (one->is_roots) {
			err = scan_again(all->opener, all->known, one->tgid, all->sink);
		} else if (all->n_records < SCAN_LONG_MAPPINGS_MAX) {
			err = scan_again(all->opener, all->known, one->tgid, &counted);
		} else {
			err = leave(all, one->tgid);
			n_left++;
		}
	}
	if (n_left)
		log_verbose("%zu processes map so much that they are read when they run",
			    n_left);
	return err;
}

int scan_all(struct opener *opener, const struct process_table *known,
	     const struct event_sink *sink)
{
	struct scan_of_all all = { .opener = opener, .known = known, .sink = sink };
	int err = read_short_ones(&all);

	if (!err)
		err = give_turns(&all);
	vec_sort(&all.long_ones, by_turn);
	if (!err)
		err = read_long_ones(&all);
	vec_free(&all.long_ones);
	return err;
}
