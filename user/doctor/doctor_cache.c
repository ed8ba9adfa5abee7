// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/doctor_cache.h"

#include "base/error.h"
#include "unwind/cache.h"

#include <errno.h>
#include <stdio.h>

static int look(struct cache_dir *dir, struct cache_dir_sum *sum)
{
	unsigned long removed;
	int err = cache_dir_open(dir, NULL, false);

	return err ? err : cache_dir_trim(dir, UINT64_MAX, sum, &removed);
}

static void tell_lack(struct probe_result *result)
{
	result->state = PROBE_LIMITED;
	snprintf(result->what, sizeof(result->what),
		 "%.120s; each start builds all tables again", error_sentence());
	if (*error_hint())
		snprintf(result->todo, sizeof(result->todo), "%.300s", error_hint());
	else
		snprintf(result->todo, sizeof(result->todo),
			 "give weft record a folder of its own: --unwind-cache PATH");
}

void doctor_cache(struct probe_result *result)
{
	struct cache_dir dir = { .fd = -1 };
	struct cache_dir_sum sum;
	int err = look(&dir, &sum);

	*result = (struct probe_result){ .name = "cache of unwind tables" };
	if (!err)
		snprintf(result->what, sizeof(result->what),
			 "%.100s: %lu files, %.1f of %llu MB", dir.path, sum.entries,
			 (double)sum.bytes / (1 << 20), CACHE_BYTES_MAX >> 20);
	else if (err == -ENOENT && *dir.path)
		snprintf(result->what, sizeof(result->what), "%.100s: empty", dir.path);
	else
		tell_lack(result);
	error_clear();
	cache_dir_close(&dir);
}
