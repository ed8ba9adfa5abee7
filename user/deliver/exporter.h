/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One receiver's way out: what waits for it (spool.h), the process that sends
 * (sender.h), and when the next try is due. Receivers have an exporter each, so that none
 * waits for another.
 *
 *	idle ──hold──► sending ──taken, never──► idle
 *	  ▲               └──later──► waiting ──time──┐
 *	  └───────────────────────────────────────────┘
 *
 * It waits as long as the receiver asks, else 1 s, 2 s, 4 s, … 5 min, each time a random
 * part of it, so that a thousand agents don't come at once.
 *
 * What is too large for the receiver (HTTP 413) goes in halves, these in halves again,
 * and counts as one: delivered, or refused if one of its parts was. An agent that ends
 * in the middle begins anew, with the same ids.
 */
#ifndef WEFT_DELIVER_EXPORTER_H
#define WEFT_DELIVER_EXPORTER_H

#include "deliver/sender.h"
#include "deliver/spool.h"

/* Ends the word of an item (spool.h) that is the second view of its window, so that it
 * gets a name of its own. */
#define EXPORTER_SECOND "-2"

struct exporter_counts {
	uint64_t delivered, tries;
	uint64_t refused; /* which the receiver, or the file, said can never be taken */
	bool is_troubled; /* the last try failed */
};

struct exporter;

/* Takes over both, also when it fails. name is borrowed. */
int exporter_new(struct exporter **ret, const char *name, struct spool *spool,
		 struct sender *sender);
void exporter_free(struct exporter *exporter);
DEFINE_FREEP(exporter)

struct spool *exporter_spool(struct exporter *exporter); /* borrowed */

/* What is due now; false: nothing waits and nothing is on its way. */
bool exporter_step(struct exporter *exporter, uint64_t now_ns);

/* Its last chance: what waits for a try is tried now, once. */
void exporter_hurry(struct exporter *exporter);
bool exporter_is_done(struct exporter *exporter); /* nothing more can go out in a hurry */

/* While it is held nothing more is begun. Is something on its way still? */
void exporter_hold(struct exporter *exporter, bool is_held);
bool exporter_is_sending(const struct exporter *exporter);

/* Readable when it has something to do; -1: not before its time. */
int exporter_fd(const struct exporter *exporter);

struct exporter_counts exporter_counts(const struct exporter *exporter);

#endif
