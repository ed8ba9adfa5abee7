// SPDX-License-Identifier: BSD-2-Clause
#include "sym/perf_maps.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A runtime may write its map late, or when it is told to. */
#define AGAIN_FIRST_NS SECOND_NS
#define AGAIN_MAX_NS   (60 * SECOND_NS)

struct kept_map {
	uint32_t tgid, incarnation;
	uid_t uid;
	int fd;		   /* -1: none is kept */
	uint64_t due_ns;   /* when it is looked for; 0: not any more */
	uint64_t pause_ns; /* until the next time */
	uint64_t gone_ns;  /* when its process was first seen to be gone; 0: not yet */
};

struct perf_maps {
	const struct module_table *modules;
	struct opener *opener;
	VEC(struct kept_map) maps;
	uint32_t n_seen; /* frames of the window at hand */
};

int perf_maps_new(struct perf_maps **ret, const struct module_table *modules,
		  struct opener *opener)
{
	struct perf_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return fail(-ENOMEM, "no memory for perf maps");
	maps->modules = modules;
	maps->opener = opener;
	*ret = maps;
	return 0;
}

void perf_maps_free(struct perf_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->maps.n; i++)
		if (maps->maps.items[i].fd >= 0)
			close(maps->maps.items[i].fd);
	vec_free(&maps->maps);
	free(maps);
}

static struct kept_map *find(const struct perf_maps *maps, uint32_t tgid,
			     uint32_t incarnation)
{
	for (size_t i = 0; i < maps->maps.n; i++)
		if (maps->maps.items[i].tgid == tgid &&
		    maps->maps.items[i].incarnation == incarnation)
			return &maps->maps.items[i];
	return NULL;
}

static bool has_room(const struct perf_maps *maps, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < maps->maps.n; i++)
		n += maps->maps.items[i].fd >= 0 && maps->maps.items[i].uid == uid;
	return n < PERF_MAPS_A_USER_MAX;
}

static void note(struct perf_maps *maps, const struct module *module)
{
	const struct kept_map map = { .tgid = module->pid,
				      .incarnation = module->incarnation,
				      .fd = -1,
				      .due_ns = 1,
				      .pause_ns = AGAIN_FIRST_NS };

	if (maps->maps.n < PERF_MAPS_MAX &&
	    !find(maps, module->pid, module->incarnation) && vec_push(&maps->maps, map))
		error_clear(); /* it has no names if it is gone by then */
}

static void note_sampled(struct perf_maps *maps, const struct aggregator *aggregator)
{
	uint32_t n = (uint32_t)intern_count(aggregator->frames);

	for (; maps->n_seen < n; maps->n_seen++) {
		const struct frame *frame = aggregator_frame(aggregator, maps->n_seen);
		const struct module *module =
			frame->returned == FRAME_IS_LABEL
				? NULL
				: module_get(maps->modules, frame->module);

		if (module && module->kind == MODULE_JIT)
			note(maps, module);
	}
}

/* One in our own /tmp stays there. */
static bool stays(const struct stat *theirs, uint32_t tgid)
{
	struct stat ours;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", tgid);
	return !lstat(path, &ours) && theirs->st_dev == ours.st_dev &&
	       theirs->st_ino == ours.st_ino;
}

static void look_for(struct perf_maps *maps, struct kept_map *map, uint64_t now_ns)
{
	const struct owner unknown = { 0 };
	AUTO_CLOSE int fd = -1;
	int err = opener_perf_map(maps->opener, (pid_t)map->tgid, &unknown,
				  PERF_MAP_BYTES_MAX, &fd);
	struct stat st;

	error_clear(); /* most generated code has none; who looks for names says more */
	map->due_ns = 0;
	if (err == -ENOENT) {
		map->due_ns = now_ns + map->pause_ns;
		if (map->pause_ns < AGAIN_MAX_NS)
			map->pause_ns *= 2;
	}
	if (err || fstat(fd, &st) || stays(&st, map->tgid) || !has_room(maps, st.st_uid))
		return;
	map->uid = st.st_uid;
	map->fd = GIVE_FD(fd);
}

void perf_maps_look(struct perf_maps *maps, const struct aggregator *aggregator,
		    const struct process_table *processes)
{
	uint64_t now_ns = clock_now_ns();

	note_sampled(maps, aggregator);
	for (size_t i = 0; i < maps->maps.n; i++) {
		struct kept_map *map = &maps->maps.items[i];

		if (map->due_ns && now_ns >= map->due_ns &&
		    process_running(processes, map->tgid, map->incarnation))
			look_for(maps, map, now_ns);
	}
}

void perf_maps_forget(struct perf_maps *maps, const struct process_table *processes,
		      uint64_t before_ns)
{
	size_t n = 0;

	maps->n_seen = 0;
	for (size_t i = 0; i < maps->maps.n; i++) {
		struct kept_map map = maps->maps.items[i];

		if (!map.gone_ns &&
		    !process_running(processes, map.tgid, map.incarnation))
			map.gone_ns = clock_now_ns();
		if (!map.gone_ns || map.gone_ns >= before_ns)
			maps->maps.items[n++] = map;
		else if (map.fd >= 0)
			close(map.fd);
	}
	maps->maps.n = n;
}

int perf_maps_fd(const struct perf_maps *maps, uint32_t tgid, uint32_t incarnation)
{
	const struct kept_map *map = maps ? find(maps, tgid, incarnation) : NULL;

	return map ? map->fd : -1;
}
