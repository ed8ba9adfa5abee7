/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes known to the ticks what is known of processes: watches what they map,
 * has each file looked through once, and publishes for each incarnation of a process
 * where its async keys are and by which unwind tables its stack is walked.
 *
 * Changes are gathered and published together, by publisher_flush(): a program
 * that starts maps a dozen files in a millisecond.
 */
#ifndef WEFT_PUBLISH_PUBLISHER_H
#define WEFT_PUBLISH_PUBLISHER_H

#include "proc/replaced.h"
#include "kern/publish_maps.h"
#include "shared/record.h"
#include "publish/collect.h"
#include "publish/delays.h"
#include "publish/mapping_tables.h"

struct publisher;

struct publisher_config {
	const struct outside *outside; /* NULL: the real one */
	struct publish_maps maps;
	struct worker *worker;
	struct worker *large_file_worker; /* NULL: the same */
	struct opener *opener;		  /* NULL: see sym/files.h */
	pid_t command;			  /* sym/files.h */
	struct module_table *modules;	  /* which others name by, too */
	struct cache *cache;		  /* of unwind tables; NULL: none */
	struct replaced *replaced; /* told of where other code is; NULL: nobody is */
	bool tables;		   /* walk by unwind tables */
	bool all_by_table;	   /* also where code keeps frame pointers */
};

struct publisher_counts {
	unsigned long processes;	 /* with a key, each incarnation once */
	unsigned long refused;		 /* map full */
	unsigned long hidden;		 /* processes that /proc does not show us */
	unsigned long too_many_keys;	 /* of these, with more keys than ticks look at */
	unsigned long too_many_set_keys; /* of these, with more keys set than that */
	unsigned long stale;		 /* published anew because a sample said so */
	unsigned long slow;    /* that waited long for a table that is being made */
	unsigned long overdue; /* that waited too long for a table: our mistake */
	unsigned long requested_again; /* for these */
	struct delay_summary delays;
	struct tables_counts tables;
	struct mapping_tables_counts mapping_tables;
};

int publisher_new(struct publisher **ret, const struct publisher_config *config);
void publisher_free(struct publisher *publisher); /* NULL is fine */
DEFINE_FREEP(publisher)

/* A record of the sideband, as it came. What it says is published with the next
 * flush, in time or not: ticks ask what is mapped now, and not what was mapped
 * when some sample fell. */
int publisher_enqueue(struct publisher *publisher, const void *record, size_t bytes);

/* A sample met what was published for another incarnation of this pid. */
void publisher_on_stale(struct publisher *publisher, uint32_t tgid);

/* A sample, checked (core/sample.h): what it led through is of use. */
void publisher_on_sample(struct publisher *publisher, const struct sample_rec *rec);

/* A walk ended at addr, since the table of the code there was not there yet. True: no
 * mapping is known there although the process is old enough; /proc may know it. */
bool publisher_on_awaited(struct publisher *publisher, uint32_t tgid, uint64_t addr,
			  uint64_t time_ns);

/* Takes in what the worker has found, publishes what changed; waits so long for files
 * that are being looked through; NULL: not at all. Returns how many are left, or a
 * negative errno. */
int publisher_flush(struct publisher *publisher, const struct wait_limits *limits);

/* What ticks need to walk what was published so far: enum tick_parts. */
unsigned int publisher_parts(const struct publisher *publisher);

/* Are there files for which the last flush had no time? */
bool publisher_is_behind(const struct publisher *publisher);

/* Are there processes that want another flush in some milliseconds? */
bool publisher_is_unsure(const struct publisher *publisher);

/* Mappings born after this are late: their delay is measured. */
void publisher_started(struct publisher *publisher, uint64_t now_ns);

/* As they are now, ahead of those that samples are named by. */
const struct process_table *publisher_processes(const struct publisher *publisher);
struct files *publisher_files(struct publisher *publisher);

/*
 * For module_trim(), after a flush: all modules that the publisher needs; and what it
 * keeps of one that is let go.
 */
void publisher_mark_modules(const struct publisher *publisher);
void publisher_let_go(struct publisher *publisher, uint32_t module);

void publisher_count(const struct publisher *publisher, struct publisher_counts *ret);

#endif
