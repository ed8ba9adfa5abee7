/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf maps of processes that have a /tmp of their own. When names are looked for
 * they may be gone, and a container's files with them, so their maps are opened when
 * generated code of theirs is sampled, and stay open until its windows have their names.
 *
 * A user has so many here, so that nobody's are in the way of another's.
 */
#ifndef WEFT_SYM_PERF_MAPS_H
#define WEFT_SYM_PERF_MAPS_H

#include "core/aggregator.h"
#include "proc/opener.h"
#include "proc/process.h"

#define PERF_MAP_BYTES_MAX   (256ULL << 20)
#define PERF_MAPS_MAX	     1024
#define PERF_MAPS_A_USER_MAX 64

struct perf_maps;

/* Both are borrowed and outlive it. */
int perf_maps_new(struct perf_maps **ret, const struct module_table *modules,
		  struct opener *opener);
void perf_maps_free(struct perf_maps *maps);
DEFINE_FREEP(perf_maps)

/* Looks for the maps of those whose generated code was sampled since the last time. */
void perf_maps_look(struct perf_maps *maps, const struct aggregator *aggregator,
		    const struct process_table *processes);

/* A window was closed, and the next look is at another one's samples. Lets go of the maps
 * of processes that were gone before: nothing is named by them any more. */
void perf_maps_forget(struct perf_maps *maps, const struct process_table *processes,
		      uint64_t before_ns);

/* The map of a process, borrowed; -1: none is kept. */
int perf_maps_fd(const struct perf_maps *maps, uint32_t tgid, uint32_t incarnation);

#endif
