/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug files that servers have, by way of what is kept of them on disk. Who records
 * and has stopped sampling waits for them. An agent does not: what it asks for is put on
 * a list, fetched and kept a step at a time, and found the next time. So an agent needs a
 * folder to keep files in.
 */
#ifndef WEFT_SYM_DEBUG_SERVERS_H
#define WEFT_SYM_DEBUG_SERVERS_H

#include "sym/debug_cache.h"
#include "sym/debuginfod.h"

struct debug_servers_config {
	const char *urls;		    /* as of debuginfod.h */
	const char *cache;		    /* as of debug_cache.h */
	void (*progress)(const char *line); /* NULL: nobody wants to know */
	bool is_later;			    /* nobody waits */
};

struct debug_servers;

/* 0; -ENOMEM; or, is_later, why there is no folder. All is borrowed. */
int debug_servers_new(struct debug_servers **ret,
		      const struct debug_servers_config *config);
void debug_servers_free(struct debug_servers *servers); /* NULL is fine */
DEFINE_FREEP(debug_servers)

/*
 * The file of what has this build id, or -1: of those that are kept, or of a server.
 * The caller closes it, and says whether it is the right one.
 */
int debug_servers_get(struct debug_servers *servers, const struct build_id *id,
		      const char *path);
void debug_servers_judge(struct debug_servers *servers, const struct build_id *id, int fd,
			 bool is_right);

/* A little of what is to be done, if nobody waits; never blocks for long. */
void debug_servers_step(struct debug_servers *servers);

/* A file that came since nobody waited for it: each is told once. */
bool debug_servers_arrived(struct debug_servers *servers, struct build_id *ret);

struct debuginfod_counts debug_servers_counts(const struct debug_servers *servers);

#endif
