/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a process keeps its async keys: the addresses of the key variables in
 * the files that it maps, for the ticks to read.
 */
#ifndef WEFT_PUBLISH_KEYS_H
#define WEFT_PUBLISH_KEYS_H

#include "proc/process.h"
#include "publish/outside.h"

#define CANDIDATES_MAX OPEN_WORDS_MAX /* of one process that are looked at */

struct key_count {
	unsigned int candidates; /* key variables: at most CANDIDATES_MAX */
	unsigned int set;	 /* of these; known only when they are too many */
	uint64_t hotspot;	 /* where HOTSPOT_SYMBOL lies; 0: nowhere */
};

struct key_reader {
	const struct outside *outside;
	const struct files *files;
	struct opener *opener;
};

/*
 * Of all files whose ELF info is known: key and cookie addresses, and what libc says
 * of its slots. Of more than KEYS_MAX candidates those come first that are set now,
 * as the process's memory says; so whoever asks asks again.
 */
struct key_count keys_gather(const struct key_reader *from, const struct process *process,
			     struct process_info *process_info);

#endif
