/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits for one receiver: a folder with a file for each profile, in the order in
 * which they came, bounded by bytes and age. The oldest is dropped when there is no
 * more room, which is counted. A file is there whole and on the disk, or not at all, so
 * what waits survives a crash; whoever is there at the start is delivered first.
 *
 * Files are called SEQUENCE-TIME-WHAT and an ending, as in
 * 217561500042-20261122T101500Z-async.pb.gz. Their numbers rise, from one life of the
 * agent to the next as well, since they begin with the time. Nothing else in the folder
 * is touched. One process uses a folder at a time: it is locked.
 */
#ifndef WEFT_DELIVER_SPOOL_H
#define WEFT_DELIVER_SPOOL_H

#include "base/cleanup.h"
#include "base/outfile.h"

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_NAME_BYTES 96
#define SPOOL_ITEMS_MAX	 65536

struct spool_config {
	const char *path;   /* made if it is not there, with those above */
	const char *ending; /* ".pb.gz" */
	uint64_t bytes_max, age_max_ns;
	bool is_the_end; /* it is a receiver itself: what must go was not lost */
};

struct spool_item {
	uint64_t sequence, bytes;
	uint64_t unix_ns; /* when it was written */
	char name[SPOOL_NAME_BYTES];
};

struct spool_counts {
	uint64_t items, bytes; /* now */
	uint64_t found;	       /* at the start */
	uint64_t added;
	uint64_t removed; /* by spool_remove() */
	uint64_t dropped; /* too old, or for want of room */
};

struct spool;

/* -EBUSY: another process uses the folder. config is copied, its strings borrowed. */
int spool_new(struct spool **ret, const struct spool_config *config);
void spool_free(struct spool *spool); /* what waits stays on the disk */
DEFINE_FREEP(spool)

/* Writes an item by a callback. what: a word for its name. An item that is larger than
 * all there is room for is dropped. */
int spool_add(struct spool *spool, const char *what,
	      int (*write)(void *arg, struct outfile *out), void *arg);

/* The newest item of another spool as one of this, without a second copy where both lie
 * on one file system. */
int spool_add_of(struct spool *spool, const struct spool *from, const char *what);

/* NULL: none waits. Good until the next call that is given the spool. */
const struct spool_item *spool_oldest(struct spool *spool);

/* A descriptor, to be closed; or -errno. From here on the oldest is not dropped, until
 * it is removed or _let() go. */
int spool_hold(struct spool *spool);
void spool_let(struct spool *spool);
void spool_remove(struct spool *spool); /* the oldest */

/* Drops what is too old. */
void spool_trim(struct spool *spool);

const struct spool_counts *spool_counts(const struct spool *spool);

#endif
