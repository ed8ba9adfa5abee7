/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a file to its unwind table: out of the cache where it has the table of
 * these very bytes, else made by the worker, and kept. Files are read in the
 * worker alone, to be hashed as well as to be parsed; what lies in the cache is
 * read here. A file that has not changed since it was hashed is not read at all.
 */
#ifndef WEFT_PUBLISH_TABLE_LOADER_H
#define WEFT_PUBLISH_TABLE_LOADER_H

#include "unwind/cache.h"
#include "worker/worker.h"

struct table_loader;

struct table_loader_counts {
	unsigned long made; /* by the worker */
	struct cache_counts cache;
};

/* All are borrowed; cache may be NULL, and so may large_file_worker, to which large
 * files go, so that no small one waits for them. Of the sink, pages and done are called
 * as of worker.h, also for tables out of the cache. */
int table_loader_new(struct table_loader **ret, struct worker *worker,
		     struct worker *large_file_worker, struct cache *cache,
		     const struct table_sink *sink);
void table_loader_free(struct table_loader *loader); /* NULL is fine */
DEFINE_FREEP(table_loader)

/* Does its file go to the large-file worker? */
bool lookup_is_large(int fd);

/* The first tick comes: from now on others have a turn, too. */
void table_loader_start(struct table_loader *loader);

/* Takes fd over. It may be done when this returns. A cookie may be asked for again once
 * it is done. keep: the cache is asked for it, and keeps it. */
int table_loader_begin(struct table_loader *loader, int fd, uint64_t cookie, bool keep);

void table_loader_count(const struct table_loader *loader,
			struct table_loader_counts *ret);

#endif
