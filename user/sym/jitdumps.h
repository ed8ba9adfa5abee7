/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dumps of JITs (obj/jitdump.h), by the process that writes each: a process maps its
 * dump once, executable, so that a profiler hears of it. The file was opened then, as the
 * mapped one that it is, and stays open here, for the process may be gone when names are
 * looked for.
 *
 * A user has so many dumps here, so that nobody's are in the way of another's.
 */
#ifndef WEFT_SYM_JITDUMPS_H
#define WEFT_SYM_JITDUMPS_H

#include "proc/process.h"
#include "sym/files.h"
#include "sym/symbol_batch.h"

#define JITDUMPS_MAX	    1024
#define JITDUMPS_A_USER_MAX 64

struct jitdump_counts {
	unsigned long found;
	unsigned long foreign; /* of another process, or user, than whose mapping it is */
	unsigned long unreadable; /* not there any more when it was heard of */
	unsigned long over_limit;
};

struct jitdumps;

/* Both are borrowed and outlive it. */
int jitdumps_new(struct jitdumps **ret, const struct module_table *modules,
		 const struct files *files);
void jitdumps_free(struct jitdumps *dumps);
DEFINE_FREEP(jitdumps)

/* A process maps a file, which may be its dump. 0 or -ENOMEM. */
int jitdumps_mapped(struct jitdumps *dumps, const struct process *process,
		    const struct mapping *map);

/* Told since when a process's generated code is as it is. */
typedef void (*jitdump_sink)(void *arg, uint32_t tgid, uint64_t since_ns);

/* Looks which dumps have grown; sink: of each whose process is there. */
void jitdumps_look(struct jitdumps *dumps, const struct process_table *processes,
		   jitdump_sink sink, void *arg);

/* Lets go of the dumps of processes that were gone before: nothing is named by them any
 * more. */
void jitdumps_forget(struct jitdumps *dumps, uint64_t before_ns);

/* The dump of a process, borrowed; -1: none is known. */
int jitdumps_fd(const struct jitdumps *dumps, uint32_t tgid, uint32_t incarnation);

/* Names those frames of the batch that have a code_ns, by a dump. 0, or the worker's
 * negative errno, which the batch notes, too. */
int jitdumps_name(struct symbol_batch *batch, int fd);

struct jitdump_counts jitdumps_counts(const struct jitdumps *dumps);

#endif
