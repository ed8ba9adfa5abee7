// SPDX-License-Identifier: BSD-2-Clause
#include "record/cgroups.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/small_file.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CGROUP_BYTES_MAX 4096
#define CGROUPS_MAX	 (1u << 20)
#define PATH_BYTES_MAX	 (16u << 20) /* of all of them */
#define PARENTS_MAX	 32

/* Who is moved mostly is soon after he began: he is asked in his first two windows, then
 * now and then. */
#define FIRST_WINDOWS  2
#define WINDOWS_BEFORE 6

/* Of an incarnation. A map's value: these 64 bits. */
struct where {
	uint32_t path;	  /* id + 1; 0: not known */
	uint32_t windows; /* before this one since that is known */
};

struct cgroups {
	struct intern *paths;
	VEC(uint32_t) by_process;
	struct hmap by_incarnation; /* to a struct where */
	unsigned long refused;
};

static struct where where_of(const struct cgroups *cgroups, uint32_t incarnation)
{
	uintptr_t value = (uintptr_t)hmap_get(&cgroups->by_incarnation, incarnation);
	struct where ret;

	_Static_assert(sizeof(ret) == sizeof(value), "fits");
	memcpy(&ret, &value, sizeof(ret));
	return ret;
}

static int note(struct cgroups *cgroups, uint32_t incarnation, const struct where *where)
{
	uintptr_t value;

	memcpy(&value, where, sizeof(value));
	return hmap_put(&cgroups->by_incarnation, incarnation, (void *)value);
}

static bool is_to_be_asked(const struct where *where)
{
	return !where->path || where->windows < FIRST_WINDOWS ||
	       !(where->windows % WINDOWS_BEFORE);
}

static int path_id(struct cgroups *cgroups, const char *path, uint32_t *ret)
{
	int err = intern_id(cgroups->paths, path, strlen(path), ret);

	if (err == INTERN_FULL) {
		cgroups->refused++;
		*ret = 0;
	}
	return err < 0 ? err : 0;
}

static int take_over(struct cgroups *cgroups, const struct cgroups *before,
		     const struct process_table *processes)
{
	const struct process *process;
	int err = 0;

	for (size_t i = 0; !err && (process = process_next(processes, &i));) {
		struct where where = where_of(before, process->incarnation);

		if (!where.path)
			continue;
		err = path_id(cgroups, intern_string(before->paths, where.path - 1),
			      &where.path);
		where.path++;
		where.windows++;
		if (!err)
			err = note(cgroups, process->incarnation, &where);
	}
	return err;
}

int cgroups_new(struct cgroups **ret, const struct cgroups *before,
		const struct process_table *processes)
{
	AUTO(cgroups) cgroups = calloc(1, sizeof(*cgroups));
	uint32_t none;
	int err = cgroups ? intern_new(&cgroups->paths, CGROUPS_MAX)
			  : fail(-ENOMEM, "no memory for cgroups");

	if (!err)
		err = intern_id(cgroups->paths, "", 0, &none);
	if (err)
		return err;
	intern_limit_bytes(cgroups->paths, PATH_BYTES_MAX);
	if (before)
		err = take_over(cgroups, before, processes);
	if (err)
		return err;
	*ret = GIVE(cgroups);
	return 0;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	intern_free(cgroups->paths);
	vec_free(&cgroups->by_process);
	if (cgroups->refused)
		log_warn("the cgroups of %lu processes are unknown: there are too many, "
			 "or their paths are too long",
			 cgroups->refused);
	hmap_free(&cgroups->by_incarnation);
	free(cgroups);
}

/* "0::/path" of version 2, else that of the first hierarchy with a long one. */
static const char *find_path(char *text)
{
	const char *best = "";
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		const char *colon = strchr(line, ':');
		const char *path = colon ? strchr(colon + 1, ':') : NULL;

		if (!path)
			continue;
		if (!strncmp(line, "0::", 3) && strcmp(path + 1, "/") != 0)
			return path + 1;
		if (strlen(path + 1) > strlen(best))
			best = path + 1;
	}
	return best;
}

/* NULL: there is no such process any more. */
static const char *read_cgroup(uint32_t tgid, char *text, size_t room)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/cgroup", tgid);
	return small_file_read(path, text, room) ? find_path(text) : NULL;
}

/* Whoever forked it; NULL: not known, or its pid is another's by now. */
static const struct process *parent_of(const struct process_table *processes,
				       const struct process *child)
{
	const struct process *parent =
		child->ppid ? process_get(processes, child->ppid) : NULL;

	return parent && parent->born_ns <= child->born_ns ? parent : NULL;
}

/* Up from a process that is gone, to the first that is there, since what moved
 * meanwhile says so; or of which it is known where it was. */
static int inherit(struct cgroups *cgroups, const struct process_table *processes,
		   const struct process *process, uint32_t *ret)
{
	char text[CGROUP_BYTES_MAX];
	uint32_t known;

	*ret = 0;
	for (int i = 0; process && i < PARENTS_MAX; i++) {
		const char *path =
			process->ppid ? read_cgroup(process->ppid, text, sizeof(text))
				      : NULL;

		if (path)
			return path_id(cgroups, path, ret);
		process = parent_of(processes, process);
		known = process ? where_of(cgroups, process->incarnation).path : 0;
		if (known) {
			*ret = known - 1;
			return 0;
		}
	}
	return 0;
}

static int look_at(struct cgroups *cgroups, const struct process_table *processes,
		   const struct aggregator_process *of, uint32_t *ret)
{
	const struct process *process = process_get(processes, of->tgid);
	char text[CGROUP_BYTES_MAX];
	const char *path;

	*ret = 0;
	if (!of->tgid)
		return 0;
	path = read_cgroup(of->tgid, text, sizeof(text));
	if (path)
		return path_id(cgroups, path, ret);
	return inherit(cgroups, processes, process, ret);
}

int cgroups_look(struct cgroups *cgroups, const struct aggregator *aggregator,
		 const struct process_table *processes)
{
	int err = 0;

	while (!err && cgroups->by_process.n < intern_count(aggregator->processes)) {
		size_t bytes;
		const struct aggregator_process *process = intern_bytes(
			aggregator->processes, (uint32_t)cgroups->by_process.n, &bytes);
		struct where where = where_of(cgroups, process->incarnation);
		uint32_t id = where.path - 1;

		if (is_to_be_asked(&where))
			err = look_at(cgroups, processes, process, &id);
		where.path = id + 1;
		if (!err)
			err = note(cgroups, process->incarnation, &where);
		if (!err)
			err = vec_push(&cgroups->by_process, id);
	}
	return err;
}

const char *cgroups_of(const struct cgroups *cgroups, uint32_t process)
{
	return process < cgroups->by_process.n
		       ? intern_string(cgroups->paths, cgroups->by_process.items[process])
		       : NULL;
}
