/* SPDX-License-Identifier: BSD-2-Clause */
/* What the publisher's own files share: publisher.c takes in, process_entry.c
 * publishes what is known of one process, overdue.c looks after who waits too long. */
#ifndef WEFT_PUBLISH_PUBLISHER_PARTS_H
#define WEFT_PUBLISH_PUBLISHER_PARTS_H

#include "base/hmap.h"
#include "base/log.h"
#include "base/vec.h"
#include "publish/sideband_queue.h"
#include "publish/identity.h"
#include "worker/remote_reader.h"
#include "publish/publisher.h"

/*
 * An exec tells of the first mappings before it has settled where the stack
 * begins, so what is read of a process this young is provisional.
 */
#define EXEC_NS 3000000ULL

/* What is published about one process. */
struct process_entry {
	uint64_t version;		  /* of its mappings */
	uint64_t published_ns;		  /* 0: nothing yet */
	struct process_info process_info; /* as it was put */
	struct identity identity;	  /* whose it is */
	bool is_known;			  /* `identity`, for sure */
	bool is_provisional;		  /* or will be asked again */
	bool is_unidentified; /* at once: perhaps it is in the midst of an exec */
	struct mapping_table *mapping_table;
	bool has_keys;
	bool has_too_many_keys;	    /* more than fit: which are set is asked again */
	bool has_too_many_set_keys; /* more of them are set than fit */
	bool dirty;
	bool is_overdue;      /* its ticks waited too long for a table */
	unsigned int n_again; /* how often something was done about that */
	uint64_t again_ns;    /* and when last */
};

struct publisher {
	struct publisher_config config;
	struct process_table *processes; /* as they are, not as they were */
	struct sideband_queue queue;
	struct files *files;
	struct page_allocator *allocator;
	struct tables *tables; /* NULL: none are used */
	struct mapping_tables *mapping_tables;
	struct hmap entries;	   /* by tgid */
	VEC(uint32_t) dirty;	   /* tgids */
	VEC(uint32_t) provisional; /* tgids */
	struct remote_reader reader;
	uint64_t keys_read_ns; /* when those of too many were last read */
	VEC(uint32_t) keyed;   /* modules that turned out to hold keys */
	VEC(uint32_t) tabled;  /* modules whose tables came */
	struct delays *delays;
	struct publisher_counts counts;
	struct log_pace pace; /* any process that execs makes it fail */
	int err; /* the first one that a callback met; they can't return it */
};

/* Kept for the next flush to return: callbacks can't. */
void publisher_note_error(struct publisher *p, int err);

/* Its entry; NULL: no memory, which is noted. */
struct process_entry *publisher_entry(struct publisher *p, const struct process *process);

/* It is published with the next flush. */
void publisher_make_dirty(struct publisher *p, const struct process *process);

/* Puts what is known of a process where its ticks find it, unless that is there. */
int publisher_publish(struct publisher *p, const struct process *process,
		      struct process_entry *entry);

#endif
