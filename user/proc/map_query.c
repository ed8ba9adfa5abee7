// SPDX-License-Identifier: BSD-2-Clause
#include "proc/map_query.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/* struct procmap_query of linux/fs.h, which is newer than many of its copies */
struct procmap_question {
	uint64_t bytes, flags, addr;
	uint64_t start, end, vma_flags, page_bytes, offset, ino;
	uint32_t maj, min;
	uint32_t name_bytes, build_id_bytes; /* 0: not asked for */
	uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct procmap_question)

enum {
	READABLE = 0x01,
	WRITABLE = 0x02,
	EXECUTABLE = 0x04,
	SHARED = 0x08,
	OR_THE_NEXT = 0x10,
};

int map_query_open(pid_t tid, int *ret_maps)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(-errno, "cannot read %s", path);
	*ret_maps = fd;
	return 0;
}

static int ask(int maps, struct procmap_question *query)
{
	query->bytes = sizeof(*query);
	if (!ioctl(maps, QUERY, query))
		return 0;
	/* a later kernel's, with other ideas, says EINVAL */
	return errno == ENOTTY || errno == EINVAL ? -EOPNOTSUPP : -errno;
}

static int ask_for(int maps, const struct map_place *place)
{
	struct procmap_question query = { .flags = EXECUTABLE, .addr = place->addr };
	int err = ask(maps, &query);

	if (err)
		return err == -ENOENT ? -ESTALE : err;
	return query.ino == place->ino ? 0 : -ESTALE;
}

static int ask_all(pid_t tid, const struct map_place *places, unsigned int n)
{
	AUTO_CLOSE int maps = -1;
	int err = map_query_open(tid, &maps);

	if (err)
		return err;
	for (unsigned int i = 0; !err && i < n; i++)
		err = ask_for(maps, &places[i]);
	return err ? fail(err, "process %d does not map what it did", (int)tid) : 0;
}

int map_query(pid_t tid, const struct map_place *places, unsigned int n,
	      struct task_stat ret_stats[2])
{
	struct task_stat stats[2];
	int err;

	if (!task_stat_read(tid, &stats[0]))
		return fail(-ESRCH, "no stat of %d", (int)tid);
	err = n ? ask_all(tid, places, n) : 0;
	if (err)
		return err;
	if (!task_stat_read(tid, &stats[1]))
		return fail(-ESRCH, "no stat of %d", (int)tid);
	memcpy(ret_stats, stats, sizeof(stats));
	return 0;
}

int map_query_range(int maps, uint64_t addr, struct map_range *ret)
{
	struct procmap_question query = { .flags = EXECUTABLE, .addr = addr };
	int err = ask(maps, &query);

	if (!err)
		*ret = (struct map_range){ query.start, query.end };
	return err;
}

/* What perf's records say of a path that is more than the kernel can say. */
static uint32_t put_too_long(char name[PATH_MAX])
{
	static const char says[] = "//toolong";

	memcpy(name, says, sizeof(says));
	return sizeof(says);
}

int map_query_code(int maps, uint64_t addr, struct map_found *ret)
{
	struct procmap_question query = {
		.flags = EXECUTABLE | OR_THE_NEXT,
		.addr = addr,
		.name = (uintptr_t)ret->name,
		.name_bytes = sizeof(ret->name),
	};
	int err = ask(maps, &query);

	if (err == -ENAMETOOLONG || err == -E2BIG) {
		query.name = query.name_bytes = 0;
		err = ask(maps, &query);
		if (!err)
			query.name_bytes = put_too_long(ret->name);
	}
	if (err)
		return err;
	if (query.end <= addr || query.end <= query.start ||
	    query.name_bytes > sizeof(ret->name))
		return -EOPNOTSUPP;
	ret->name[query.name_bytes ? query.name_bytes - 1 : 0] = '\0';
	ret->start = query.start;
	ret->end = query.end;
	ret->pgoff = query.offset;
	ret->ino = query.ino;
	ret->maj = query.maj;
	ret->min = query.min;
	ret->is_readable = query.vma_flags & READABLE;
	ret->is_writable = query.vma_flags & WRITABLE;
	ret->is_shared = query.vma_flags & SHARED;
	return 0;
}
