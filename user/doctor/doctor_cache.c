// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/doctor_cache.h"

#include "base/error.h"
#include "unwind/cache.h"

#include <errno.h>
#include <stdio.h>

static int look(struct folder *folder, struct folder_sum *sum)
{
	unsigned long removed;
	int err = folder_open(folder, NULL, false);

	return err ? err : folder_trim(folder, UINT64_MAX, sum, &removed);
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
	struct folder folder = { .fd = -1 };
	struct folder_sum sum;
	int err = look(&folder, &sum);

	*result = (struct probe_result){ .name = "cache of unwind tables" };
	if (!err)
		snprintf(result->what, sizeof(result->what),
			 "%.100s: %lu files, %.1f of %llu MB", folder.path, sum.entries,
			 (double)sum.bytes / (1 << 20), CACHE_BYTES_MAX >> 20);
	else if (err == -ENOENT && *folder.path)
		snprintf(result->what, sizeof(result->what), "%.100s: empty",
			 folder.path);
	else
		tell_lack(result);
	error_clear();
	folder_close(&folder);
}
