/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long it takes from a new mapping until the ticks know all that there is
 * to know about it.
 */
#ifndef WEFT_PUBLISH_DELAYS_H
#define WEFT_PUBLISH_DELAYS_H

#include "base/cleanup.h"
#include "proc/process.h"

#include <stdbool.h>

#define DELAYS_MAX 65536 /* that wait; those beyond are not measured */

struct delay_summary {
	unsigned long measured;
	uint64_t median_ns, p90_ns, p99_ns; /* at most a 32nd too much */
	uint64_t max_ns;
	uint64_t keyed_max_ns; /* of files with async keys */
};

struct delays;

int delays_new(struct delays **ret);
void delays_free(struct delays *delays); /* NULL is fine */
DEFINE_FREEP(delays)

/* Mappings born after this are late. */
void delays_begin(struct delays *delays, uint64_t now_ns);

/* A mapping whose module is not published yet. */
int delays_add(struct delays *delays, const struct mapping *map);

/* What is known of a module: all that there is, with a key in it or not. */
enum delay_state { DELAY_WAITS, DELAY_OVER, DELAY_OVER_KEYED };

/* Measures those whose modules are known by now. */
void delays_settle(struct delays *delays,
		   enum delay_state (*state)(void *arg, uint32_t module), void *arg,
		   uint64_t now_ns);

/* For module_trim(): what is waited for is needed. */
void delays_mark_modules(const struct delays *delays, struct module_table *modules);

void delays_summarize(const struct delays *delays, struct delay_summary *ret);

#endif
