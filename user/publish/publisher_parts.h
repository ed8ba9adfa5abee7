/* SPDX-License-Identifier: BSD-2-Clause */
/* What the publisher's own files share: publisher.c hears and takes in, tell.c knows
 * and tells what is told of one process, overdue.c looks after who waits too long. */
#ifndef WEFT_PUBLISH_PUBLISHER_PARTS_H
#define WEFT_PUBLISH_PUBLISHER_PARTS_H

#include "base/hmap.h"
#include "base/log.h"
#include "base/vec.h"
#include "publish/heard.h"
#include "publish/identity.h"
#include "worker/peek.h"
#include "publish/publisher.h"

/*
 * An exec tells of the first mappings before it has settled where the stack
 * begins, so what is read of a process this young is read once more.
 */
#define EXEC_NS 3000000ULL

/* What is known of the incarnation of a process that something is published for. */
enum incarnation {
	INCARNATION_UNREAD,	 /* or not believed any more: read before it is used */
	INCARNATION_UNCLEAR,	 /* young, and not read: perhaps it is in an exec */
	INCARNATION_PROVISIONAL, /* read while it was young: once more when it is not */
	INCARNATION_SETTLED,
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

/* Did its ticks wait too long for a table? */
enum patience { IN_TIME, OVERDUE };

/* What ticks are told about one process. */
struct told {
	uint64_t version;      /* of its mappings */
	uint64_t told_ns;      /* when something was published */
	struct published what; /* as it was put */
	struct identity life;  /* whose it is */
	enum incarnation incarnation;
	enum publication publication;
	enum key_room keys;
	enum patience patience;
	struct space *space;
	bool is_queued;	      /* to be published with the next flush */
	unsigned int n_again; /* how often something was done about being overdue */
	uint64_t again_ns;    /* and when last */
};

/* Will it be asked again who it is? */
static inline bool told_is_young(const struct told *told)
{
	return told->incarnation == INCARNATION_UNCLEAR ||
	       told->incarnation == INCARNATION_PROVISIONAL;
}

struct publisher {
	struct publisher_config config;
	struct process_table *processes; /* as they are, not as they were */
	struct heard heard;
	struct heap *heap;     /* NULL: no tables are used */
	struct tables *tables; /* all files, with tables or without */
	struct files *files;   /* the tables' own */
	struct spaces *spaces; /* NULL: no tables are used */
	struct hmap told;      /* by tgid */
	VEC(uint32_t) dirty;   /* tgids that are queued */
	VEC(uint32_t) young;   /* tgids of UNCLEAR and PROVISIONAL incarnations */
	struct peek peek;
	uint64_t crowded_ns;	 /* when they were last asked */
	unsigned long n_refused; /* spaces, when room was last looked for again */
	uint64_t refused_ns;	 /* and when that was */
	struct delays *delays;
	struct publisher_counts counts;
	struct log_pace pace; /* any process that execs makes it fail */
	int err; /* the first one that a callback met; they can't return it */
};

/* Kept for the next flush to return: callbacks can't. */
void publisher_note_error(struct publisher *p, int err);

/* What is told of it; NULL: no memory, which is noted. */
struct told *publisher_told(struct publisher *p, const struct process *process);

/* It is told of with the next flush. */
void publisher_make_dirty(struct publisher *p, const struct process *process);

/* Puts what is known of a process where its ticks find it, unless that is there. */
int publisher_tell(struct publisher *p, const struct process *process, struct told *told);

#endif
