// SPDX-License-Identifier: BSD-2-Clause
#include "modules.h"

#include "image.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

struct region {
	uint64_t start, end, pgoff;
	const char *path; /* owned by modules.images; NULL: of no file */
};

struct space {
	uint32_t pid;
	VEC(struct region) regions;
	Dwfl *dwfl; /* NULL: not asked for since it changed */
};

struct modules {
	struct hmap by_pid;
	struct images *images;
	uint64_t refused;
};

int modules_new(struct modules **ret)
{
	AUTO(modules) modules = calloc(1, sizeof(*modules));
	int err = modules ? 0 : fail(-ENOMEM, "no memory for processes");

	if (!err)
		err = images_new(&modules->images);
	if (err)
		return err;
	*ret = GIVE(modules);
	return 0;
}

static void forget_modules(struct space *space)
{
	if (space->dwfl)
		dwfl_end(space->dwfl);
	space->dwfl = NULL;
}

static void space_free(struct space *space)
{
	forget_modules(space);
	vec_free(&space->regions);
	free(space);
}

void modules_free(struct modules *modules)
{
	struct space *space;

	if (!modules)
		return;
	for (size_t i = 0; (space = hmap_next(&modules->by_pid, &i));)
		space_free(space);
	hmap_free(&modules->by_pid);
	images_free(modules->images);
	free(modules);
}

static struct space *space_of(struct modules *modules, uint32_t pid)
{
	struct space *space = hmap_get(&modules->by_pid, pid);

	if (space)
		return space;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->pid = pid;
	if (!hmap_put(&modules->by_pid, pid, space))
		return space;
	free(space);
	return NULL;
}

/* What the new mapping covers is gone; what it splits becomes two. */
static int make_way(struct space *space, uint64_t start, uint64_t end)
{
	size_t kept = 0, n = space->regions.n;
	int err = vec_reserve(&space->regions, 1);
	struct region rest = { 0 };

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		struct region r = space->regions.items[i];

		if (r.start < start && r.end > end) {
			rest = r;
			rest.pgoff += end - r.start;
			rest.start = end;
			r.end = start;
		} else if (r.start < start && r.end > start) {
			r.end = start;
		} else if (r.start < end && r.end > end) {
			r.pgoff += end - r.start;
			r.start = end;
		} else if (r.start >= start && r.end <= end) {
			continue;
		}
		space->regions.items[kept++] = r;
	}
	if (rest.end)
		space->regions.items[kept++] = rest;
	space->regions.n = kept;
	return 0;
}

static bool is_known(const struct space *space, const struct region *region)
{
	for (size_t i = 0; i < space->regions.n; i++) {
		if (!memcmp(&space->regions.items[i], region, sizeof(*region)))
			return true;
	}
	return false;
}

static int map(struct modules *modules, const struct side_event *event)
{
	struct space *space = space_of(modules, event->pid);
	struct region region = { event->start, event->start + event->bytes, event->pgoff,
				 images_path(modules->images, event->path) };
	int err;

	if (!space)
		return fail(-ENOMEM, "no memory for processes");
	if (is_known(space, &region))
		return 0;
	err = make_way(space, region.start, region.end);
	forget_modules(space);
	return err ? err : vec_push(&space->regions, region);
}

static int copy(struct modules *modules, uint32_t from, uint32_t to)
{
	struct space *parent = hmap_get(&modules->by_pid, from), *child;

	if (from == to || !parent)
		return 0;
	child = space_of(modules, to);
	if (!child || vec_reserve(&child->regions, parent->regions.n))
		return fail(-ENOMEM, "no memory for processes");
	forget_modules(child);
	memcpy(child->regions.items, parent->regions.items,
	       parent->regions.n * sizeof(*parent->regions.items));
	child->regions.n = parent->regions.n;
	return 0;
}

static void clear(struct modules *modules, uint32_t pid, bool gone)
{
	struct space *space = hmap_get(&modules->by_pid, pid);

	if (!space)
		return;
	forget_modules(space);
	if (!gone) /* other threads may still run */
		space->regions.n = 0;
}

int modules_event(struct modules *modules, const struct side_event *event)
{
	switch (event->kind) {
	case SIDE_MMAP:
		return map(modules, event);
	case SIDE_FORK:
		return copy(modules, event->ppid, event->pid);
	case SIDE_EXEC:
		clear(modules, event->pid, false);
		return 0;
	case SIDE_EXIT:
		if (event->pid == event->tid)
			clear(modules, event->pid, true);
		return 0;
	default:
		return 0;
	}
}

static Dwfl *new_modules(struct modules *modules, const struct space *space)
{
	Dwfl *dwfl = images_begin(modules->images);

	for (size_t i = 0; dwfl && i < space->regions.n; i++) {
		const struct region *r = &space->regions.items[i];

		if (r->path &&
		    !images_report(modules->images, dwfl, r->path, r->start, r->pgoff))
			modules->refused++;
	}
	if (dwfl && !dwfl_report_end(dwfl, NULL, NULL))
		return dwfl;
	fail(-EINVAL, "libdwfl: %s", dwfl_errmsg(-1));
	dwfl_end(dwfl);
	return NULL;
}

Dwfl *modules_of(struct modules *modules, uint32_t pid)
{
	struct space *space = hmap_get(&modules->by_pid, pid);

	if (!space) {
		fail(-ESRCH, "nobody told what process %u maps", pid);
		return NULL;
	}
	if (!space->dwfl)
		space->dwfl = new_modules(modules, space);
	return space->dwfl;
}

bool modules_is_code(const struct modules *modules, uint32_t pid, uint64_t addr)
{
	const struct space *space = hmap_get(&modules->by_pid, pid);

	for (size_t i = 0; space && i < space->regions.n; i++) {
		const struct region *r = &space->regions.items[i];

		if (addr >= r->start && addr < r->end)
			return true;
	}
	return false;
}

uint64_t modules_refused(const struct modules *modules)
{
	return modules->refused;
}
