/* SPDX-License-Identifier: BSD-2-Clause */
/* Which alternate file of dwz a file with debug information needs, as it says itself
 * (obj/elf_links.h). The parse worker reads that. */
#ifndef WEFT_SYM_ALTERNATE_LINK_H
#define WEFT_SYM_ALTERNATE_LINK_H

#include "obj/build_id.h"
#include "proc/open_debug.h"
#include "worker/worker.h"

/* Sets ret->build_id and ret->dwz, and what is the first place; false: fd needs none. */
bool alternate_link_read(struct worker *worker, int fd, int deadline_ms,
			 struct debug_query *ret);

static inline struct build_id alternate_link_id(const struct debug_query *query)
{
	struct build_id id = { .bytes = query->build_id_bytes };

	_Static_assert(DEBUG_ID_BYTES == BUILD_ID_MAX, "of one length");
	memcpy(id.id, query->build_id, sizeof(id.id));
	return id;
}

#endif
