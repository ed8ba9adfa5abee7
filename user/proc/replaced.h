/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a process has mapped other code than was there, a plugin in the place of another
 * one, and until when its ticks had the rules of what was there before. Mappings are
 * told of when they are made; until that has been read and published some 0.1 ms pass, in
 * which the code is sampled, and walked by what is no rule of its own.
 */
#ifndef WEFT_PROC_REPLACED_H
#define WEFT_PROC_REPLACED_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

#define REPLACED_MAX 8192 /* places that are remembered, the last ones */

struct replaced;

/* Plain numbers, for a tape. */
struct replaced_place {
	uint64_t start, end;
	uint64_t since_ns;
	uint64_t is_back; /* the code is there again that ticks have the rules of */
};

/* Told of what follows, to be told it again by a tape. */
struct replaced_log {
	void *arg;
	void (*put)(void *arg, uint32_t tgid, const struct replaced_place *place);
	void (*settled)(void *arg, uint32_t tgid, uint64_t now_ns);
};

int replaced_new(struct replaced **ret);
void replaced_free(struct replaced *replaced);
DEFINE_FREEP(replaced)

void replaced_tell(struct replaced *replaced, const struct replaced_log *log);

/* Since then there is other code than ticks have the rules of, or none such any more. Of
 * very many at once it is all of the process. */
int replaced_put(struct replaced *replaced, uint32_t tgid,
		 const struct replaced_place *place);

/* Ticks have its rules from now on, of all places of that process so far. */
void replaced_settle(struct replaced *replaced, uint32_t tgid, uint64_t now_ns);

/* Had a tick of that time the rules of what was there before? */
bool replaced_is_stale(const struct replaced *replaced, uint32_t tgid, uint64_t addr,
		       uint64_t time_ns);

/* No place of that process is remembered: nothing is stale. */
bool replaced_is_empty(const struct replaced *replaced, uint32_t tgid);

#endif
