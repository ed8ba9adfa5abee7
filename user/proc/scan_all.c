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

struct one {
	pid_t tgid;
	bool is_roots;
	uintptr_t turn; /* how many of its payer's came before it */
};

struct scan_of_all {
	struct opener *opener;
	const struct process_table *known;
	const struct event_sink *sink;
	VEC(struct one) ones;
	VEC(struct one) long_ones;
	uint64_t others_since_ns; /* 0: root's are not all read yet */
	uint64_t others_ns;
	size_t n_records; /* of long ones that are not root's; handed on */
	size_t n_left;
};

static int count(void *arg, const void *bytes, size_t n)
{
	struct scan_of_all *all = arg;

	all->n_records++;
	return all->sink->sideband(all->sink->arg, bytes, n);
}

static int list_all(struct scan_of_all *all)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return fail_errno(-errno, "cannot read /proc");
	while (!err && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = vec_push(&all->ones,
				       (struct one){ .tgid = atoi(entry->d_name) });
	closedir(proc);
	return err;
}

/* To those who can have code: of a large machine's processes most are kernel threads. */
static int give_turns(struct scan_of_all *all)
{
	struct hmap turns = { 0 };
	size_t n = all->ones.n;
	int err = 0;

	all->ones.n = 0;
	for (size_t i = 0; !err && i < n; i++) {
		struct one one = { .tgid = all->ones.items[i].tgid };
		struct owner owner = opener_owner(all->opener, one.tgid);

		if (!owner.has_memory)
			continue;
		one.is_roots = owner.known && !owner.uid && !owner.payer;
		one.turn = (uintptr_t)hmap_get(&turns, owner.payer);
		all->ones.items[all->ones.n++] = one;
		err = hmap_put(&turns, owner.payer, (void *)(one.turn + 1));
	}
	hmap_free(&turns);
	return err;
}

static int by_turn(const void *a, const void *b)
{
	const struct one *one = a, *other = b;

	if (one->is_roots != other->is_roots)
		return one->is_roots ? -1 : 1;
	if (one->turn != other->turn)
		return one->turn < other->turn ? -1 : 1;
	return one->tgid < other->tgid ? -1 : one->tgid > other->tgid;
}

/* One that is known stays as it is. */
static int leave(struct scan_of_all *all, pid_t tgid)
{
	all->n_left++;
	if (all->known && process_get(all->known, (uint32_t)tgid))
		return 0;
	return scan_name(tgid, clock_now_ns(), all->sink);
}

/* Those that are not root's are the last. */
static bool may_read(struct scan_of_all *all, const struct one *one)
{
	uint64_t now;

	if (one->is_roots)
		return true;
	now = clock_now_ns();
	if (!all->others_since_ns)
		all->others_since_ns = now;
	return now - all->others_since_ns < all->others_ns;
}

static int read_short_ones(struct scan_of_all *all, struct scan_queue *later)
{
	int err = 0;

	for (size_t i = 0; !err && !signals_pend() && i < all->ones.n; i++) {
		const struct one *one = &all->ones.items[i];

		if (may_read(all, one)) {
			err = scan_again_short(all->opener, all->known, one->tgid,
					       all->sink);
			if (err == -E2BIG)
				err = vec_push(&all->long_ones, *one);
		} else {
			err = leave(all, one->tgid);
			if (!err)
				err = vec_push(later, (uint32_t)one->tgid);
		}
	}
	return err;
}

static int read_long_ones(struct scan_of_all *all)
{
	const struct event_sink counted = { .arg = all, .sideband = count };
	int err = 0;

	for (size_t i = 0; !err && !signals_pend() && i < all->long_ones.n; i++) {
		const struct one *one = &all->long_ones.items[i];

		if (may_read(all, one) && all->n_records < SCAN_LONG_MAPPINGS_MAX)
			err = scan_again(all->opener, all->known, one->tgid,
					 one->is_roots ? all->sink : &counted);
		else
			err = leave(all, one->tgid);
	}
	return err;
}

int scan_all(struct opener *opener, const struct process_table *known,
	     const struct event_sink *sink, uint64_t others_ns,
	     struct scan_queue *ret_later)
{
	struct scan_of_all all = {
		.opener = opener,
		.known = known,
		.sink = sink,
		.others_ns = others_ns,
	};
	int err = list_all(&all);

	if (!err)
		err = give_turns(&all);
	vec_sort(&all.ones, by_turn);
	if (!err)
		err = read_short_ones(&all, ret_later);
	if (!err)
		err = read_long_ones(&all);
	if (all.n_left)
		log_verbose("%zu processes are so many, or map so much, that they are "
			    "read by and by, or when they run",
			    all.n_left);
	vec_free(&all.ones);
	vec_free(&all.long_ones);
	return err;
}
