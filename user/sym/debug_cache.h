/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files that servers sent, on disk by build id, so that none is asked for twice:
 * in `debuginfod` below the folder of unwind tables, for its owner alone. Limited in
 * bytes, and what was not used for a while goes. What elfutils' client (gdb's, perf's)
 * keeps is used as well, where it is ours and nobody else may write to it.
 *
 * That a file is of this build somebody else says: what lies here was sent by a server.
 */
#ifndef WEFT_SYM_DEBUG_CACHE_H
#define WEFT_SYM_DEBUG_CACHE_H

#include "base/cleanup.h"
#include "obj/build_id.h"

#define DEBUG_CACHE_BYTES_MAX (1ULL << 30)
#define DEBUG_CACHE_AGE_S     (30 * 24 * 3600)

struct debug_cache;

/* where: as of unwind/cache.h. *ret is NULL where none is to be had, which is told. 0 or
 * -ENOMEM. */
int debug_cache_new(struct debug_cache **ret, const char *where);
void debug_cache_free(struct debug_cache *cache); /* NULL is fine */
DEFINE_FREEP(debug_cache)

/* The file of this build, which the caller closes, or -1. cache NULL: only the client's
 * folder is looked at. */
int debug_cache_open(struct debug_cache *cache, const struct build_id *id);

/* Ours is not what it should be. */
void debug_cache_drop(struct debug_cache *cache, const struct build_id *id);

enum { DEBUG_CACHE_MORE = 1 };

/*
 * Keeps a copy, a part with each step, since whoever calls has more to do; one at a time.
 * fd is borrowed until then. _step(): DEBUG_CACHE_MORE, 0 once it is there, or a
 * negative errno.
 */
int debug_cache_begin(struct debug_cache *cache, const struct build_id *id, int fd);
int debug_cache_step(struct debug_cache *cache);

/* All at once; what fails is told, and costs nothing else. */
void debug_cache_keep(struct debug_cache *cache, const struct build_id *id, int fd);

#endif
