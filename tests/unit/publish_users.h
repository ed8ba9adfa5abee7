/* SPDX-License-Identifier: BSD-2-Clause */
/* Three processes, two of different users and one of root. */
#ifndef WEFT_TESTS_PUBLISH_USERS_H
#define WEFT_TESTS_PUBLISH_USERS_H

#include "publish_world.h"

#define AT(i) (0x7f0000001000ULL + (uint64_t)(i)*0x100000)

enum { GREEDY = 1, OTHER, THIRD };

static inline void begin(void)
{
	world_begin_with((struct publisher_config){ .tables = true,
						    .maps.n_pages = WORLD_PAGES_MAX });
	world.procs[GREEDY].uid = 1000;
	world.procs[OTHER].uid = 0;
	world.procs[THIRD].uid = 1001;
}

#endif
