// SPDX-License-Identifier: BSD-2-Clause
#include "proc/map_query.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "proc/open.h"

#include <errno.h>
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

#define QUERY	   _IOWR('f', 17, struct procmap_question)
#define EXECUTABLE 0x04

static int ask(int maps, const struct map_place *place)
{
	struct procmap_question query = { .bytes = sizeof(query),
					  .flags = EXECUTABLE,
					  .addr = place->addr };

	if (!ioctl(maps, QUERY, &query))
		return query.ino == place->ino ? 0 : -ESTALE;
	switch (errno) {
	case ENOENT:
		return -ESTALE;
	case ENOTTY:
	case EINVAL: /* a later kernel's, with other ideas */
		return -EOPNOTSUPP;
	default:
		return -errno;
	}
}

static int ask_all(pid_t tid, const struct map_place *places, unsigned int n)
{
	AUTO_CLOSE int maps = -1;
	int err = open_maps(tid, &maps);

	if (err)
		return err;
	for (unsigned int i = 0; !err && i < n; i++)
		err = ask(maps, &places[i]);
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
