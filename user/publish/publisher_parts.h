/* SPDX-License-Identifier: BSD-2-Clause */
/* What the publisher's own files share: publisher.c takes in, process_entry.c
 * publishes what is known of one process, hotspots.c its JVM, copies.c copies generated
 * code, overdue.c looks after who waits too long. */
#ifndef WEFT_PUBLISH_PUBLISHER_PARTS_H
#define WEFT_PUBLISH_PUBLISHER_PARTS_H

#include "base/hmap.h"
#include "base/log.h"
#include "base/vec.h"
#include "publish/sideband_queue.h"
#include "publish/identity.h"
#include "publish/publisher.h"

/*
 * An exec tells of the first mappings before it has settled where the stack
 * begins, so what is read of a process this young is provisional.
 */
#define EXEC_NS 3000000ULL

/* What is known of the incarnation of a process that something is published for. */
enum incarnation {
	INCARNATION_UNREAD,	  /* or not believed any more: read before it is used */
	INCARNATION_UNIDENTIFIED, /* young, and not read: perhaps it is in an exec */
	INCARNATION_PROVISIONAL,  /* read while it was young: once more when it is not */
	INCARNATION_SETTLED,
	INCARNATION_TOLD, /* the kernel's half knows whose it is, by when it began */
};

/* What ticks find of it. */
enum publication {
	PUBLISHED_NOTHING,
	PUBLISHED_MAPPINGS,
	PUBLISHED_KEYS, /* and what it maps */
};

/* How its keys fit into what ticks look at. */
enum key_room {
	KEYS_FIT,
	TOO_MANY_KEYS,	   /* those that are set go first: which are is asked again */
	TOO_MANY_KEYS_SET, /* some of these are left out, too */
};

/* Did its ticks wait too long for a table: one that is being made, or one that nobody
 * makes? */
enum patience { IN_TIME, SLOW, OVERDUE };

/* What is known of a process's JVM. */
enum hotspot_is {
	HOTSPOT_NONE,	 /* it has none, or no code yet */
	HOTSPOT_STARTS,	 /* it is not all there yet */
	HOTSPOT_YOUNG,	 /* read, and to be read again */
	HOTSPOT_SETTLED, /* that, too, was done */
	HOTSPOT_UNKNOWN, /* it can't be read */
};

struct hotspot_state {
	enum hotspot_is is;
	bool is_put; /* where ticks find it */
	unsigned int n_tried;
	uint64_t again_ns; /* when it is read next */
	struct hotspot_heap heaps[HOTSPOT_HEAPS];
};

/* How stacks led on from one mapping of generated code. */
struct generated_counts {
	uint64_t start; /* of the mapping; 0: none */
	uint32_t n_lost, n_unproven;
};

#define GENERATED_COUNTED 8 /* mappings of a process, about */

/* What is published about one process. */
struct process_entry {
	uint64_t version;		  /* of its mappings */
	uint64_t published_ns;		  /* when something was published */
	struct process_info process_info; /* as it was put */
	struct identity identity;	  /* whose it is */
	enum incarnation incarnation;
	enum publication publication;
	enum key_room keys;
	enum patience patience;
	struct hotspot_state hotspot;
	struct mapping_table *mapping_table;
	bool is_queued;	      /* to be published with the next flush */
	bool is_doubted;      /* what was told of it was stale: it is read */
	unsigned int n_again; /* how often something was done about being overdue */
	uint64_t again_ns;    /* and when last */
	unsigned int n_stale; /* how often it was read since a tick called it stale */
	uint64_t stale_ns;    /* and when last */
	unsigned int n_tried; /* how often it was gone through to be published */
	uint64_t tried_ns;    /* and when last */
	uint64_t pages_ns;    /* since when, a while ago, its pages are counted */
	uint32_t n_pages;     /* that were taken since to tell what it maps */
	struct generated_counts generated[GENERATED_COUNTED];
	unsigned int n_copies; /* that were made of its generated code */
	uint64_t copied_ns;    /* and when last */
};

/* Will it be asked again who it is? */
static inline bool process_entry_is_provisional(const struct process_entry *entry)
{
	return entry->incarnation == INCARNATION_UNIDENTIFIED ||
	       entry->incarnation == INCARNATION_PROVISIONAL;
}

struct publisher {
	struct publisher_config config;
	struct process_table *processes; /* as they are, not as they were */
	struct sideband_queue queue;
	struct page_allocator *allocator;      /* NULL: no tables are used */
	struct tables *tables;		       /* all files, with tables or without */
	struct files *files;		       /* the tables' own */
	struct mapping_tables *mapping_tables; /* NULL: no tables are used */
	struct hmap entries;		       /* by tgid */
	VEC(uint32_t) dirty;		       /* tgids that are queued */
	VEC(uint32_t) provisional;	       /* tgids of such incarnations */
	VEC(uint32_t) hotspots;		       /* tgids whose JVM is to be read */
	uint64_t n_copies;		       /* of generated code, of all */
	struct hmap programs;	 /* how stacks leave their generated code: copies.c */
	VEC(uint64_t) wanted;	 /* by module: the round that it was last in */
	uint64_t round;		 /* of going through what a process maps */
	struct hmap hidden;	 /* tgids that /proc does not show us */
	uint64_t keys_read_ns;	 /* when those of too many were last read */
	unsigned long n_refused; /* spaces, when room was last looked for again */
	uint64_t refused_ns;	 /* and when that was */
	unsigned int parts;	 /* publisher_parts(), but those of tables */
	struct delays *delays;
	struct publisher_counts counts;
	struct log_pace pace; /* any process that execs makes it fail */
	int err; /* the first one that a callback met; they can't return it */
};

/* Is that word of a record a place in code? */
static inline bool publisher_is_address(uint64_t word)
{
	switch (FRAME_KIND(word)) {
	case FRAME_USER:
	case FRAME_SYSCALL:
	case FRAME_UNPROVEN:
	case FRAME_CALLER:
	case FRAME_ASYNC:
		return true;
	default:
		return false;
	}
}

/* Kept for the next flush to return: callbacks can't. */
void publisher_note_error(struct publisher *p, int err);

/* /proc does not show it; counted once. */
void publisher_note_hidden(struct publisher *p, uint32_t tgid);

/* Its entry; NULL: no memory, which is noted. */
struct process_entry *publisher_entry(struct publisher *p, const struct process *process);

/* Something was mapped: are the rules that ticks have there of other code, until that is
 * published? Told of on (proc/replaced.h). */
void publisher_note_place(struct publisher *p, const struct process *process,
			  const struct mapping *map);

/* It is published with the next flush. */
void publisher_make_dirty(struct publisher *p, const struct process *process);

/* Is it too soon to go through all that it maps again? As often as it likes a process
 * changes that, and if it is very much, each time takes milliseconds. Who does it often
 * is charged, and has to wait once nothing is left. */
bool publisher_must_pause(struct publisher *p, const struct process *process,
			  struct process_entry *entry);

/* Puts what is known of a process where its ticks find it, unless that is there. */
int publisher_publish(struct publisher *p, const struct process *process,
		      struct process_entry *entry);

#endif
