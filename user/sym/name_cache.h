/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names that outlive windows: what was found at a place of a module, also that nothing
 * was, so that the next window asks for new places only. What no window asked for in a
 * while is let go. Beyond a limit names are looked for again each time, which is
 * counted.
 */
#ifndef WEFT_SYM_NAME_CACHE_H
#define WEFT_SYM_NAME_CACHE_H

#include "core/names.h"

struct name_cache;

int name_cache_new(struct name_cache **ret);
void name_cache_free(struct name_cache *cache);
DEFINE_FREEP(name_cache)

/* A place: a module's serial (core/module.h), and where in it. */
struct name_place {
	uint64_t serial, at;
};

/* Gives a frame the names of its place; *ret: were they known? 0 or -ENOMEM. */
int name_cache_recall(struct name_cache *cache, const struct name_place *place,
		      struct names *names, uint32_t frame, bool *ret);

/* What the frame is called now is so at this place. 0 or -ENOMEM. */
int name_cache_keep(struct name_cache *cache, const struct name_place *place,
		    const struct names *names, uint32_t frame);

/* All of it. */
void name_cache_clear(struct name_cache *cache);

/* No debug file of this module was found: none is to be looked for in a while. 0 or
 * -ENOMEM. */
int name_cache_set_no_debug(struct name_cache *cache, uint64_t serial);
bool name_cache_has_no_debug(const struct name_cache *cache, uint64_t serial);

/* A window has its names. */
void name_cache_turn(struct name_cache *cache);

/* What no symbol named in this module is to be looked for again, and its debug file. */
void name_cache_forget(struct name_cache *cache, uint64_t serial);

struct name_cache_counts {
	uint64_t places, bytes; /* now */
	uint64_t refused;	/* places, for want of room */
};

struct name_cache_counts name_cache_counts(const struct name_cache *cache);

#endif
