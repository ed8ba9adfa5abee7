/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a file to its unwind table: out of the cache where it has the table of
 * these very bytes, else made by the worker, and kept. Files are read in the
 * worker alone, to be hashed as well as to be parsed; what lies in the cache is
 * read here.
 */
#ifndef WEFT_PUBLISH_LOOKUP_H
#define WEFT_PUBLISH_LOOKUP_H

#include "unwind/cache.h"
#include "worker/worker.h"

struct lookup;

struct lookup_counts {
	unsigned long made; /* by the worker */
	struct cache_counts cache;
};

/* All are borrowed; cache may be NULL, and so may heavy, which large files go to, so
 * that no small one waits for them. Of the sink, pages and done are called as of
 * worker.h, also for tables out of the cache. */
int lookup_new(struct lookup **ret, struct worker *worker, struct worker *heavy,
	       struct cache *cache, const struct table_sink *sink);
void lookup_free(struct lookup *lookup); /* NULL is fine */
DEFINE_FREEP(lookup)

/* Does its file go to heavy? */
bool lookup_is_large(int fd);

/* Takes fd over. A cookie may be asked for again once it is done. */
int lookup_begin(struct lookup *lookup, int fd, uint64_t cookie);

void lookup_count(const struct lookup *lookup, struct lookup_counts *ret);

#endif
