/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of the machine and what each maps, driven by side events in
 * the order of their times; one that comes late is of an incarnation that is over. A
 * forked child shares its parent's list until one of them maps something; an
 * exec begins a new one. An unmap is never told: a mapping that overlaps an
 * older one replaces it, unless it is a copy of it (map_list_resolve_copy()).
 *
 * A process is remembered for a while after its end, since samples of it may
 * still be on their way, and forgotten when its pid is used again.
 */
#ifndef WEFT_PROC_PROCESS_H
#define WEFT_PROC_PROCESS_H

#include "base/cleanup.h"
#include "core/module.h"
#include "proc/map_list.h"
#include "proc/side_event.h"

struct process {
	uint32_t tgid, ppid;  /* ppid: who forked it; 0: not known */
	uint32_t incarnation; /* distinct for each process and each of its execs */
	uint64_t born_ns;     /* what is older is another incarnation's */
	uint64_t ended_ns;    /* 0: alive */
	uint32_t threads;     /* beside the leader, of those that were seen to begin */
	bool leader_ended;
	bool is_told;		    /* the kernel told of its beginning, at born_ns */
	uint64_t code_since_ns;	    /* its generated code is as it was then, by its JIT's
				 * dump; 0: no dump is known */
	char comm[SIDE_COMM_BYTES]; /* its first thread's, as it came; "": not known */
	struct map_list *maps;
	size_t module_bytes; /* of modules that came with it (core/module.h) */
};

struct process_table;

/* Told as they happen; each may be NULL. For who publishes keys. */
struct process_sink {
	void *arg;
	void (*mapped)(void *arg, const struct process *process,
		       const struct mapping *map);
	/* parent: NULL when it is not known */
	void (*forked)(void *arg, const struct process *child,
		       const struct process *parent, uint64_t time_ns);
	void (*exec)(void *arg, const struct process *process);
	void (*ended)(void *arg, const struct process *process);
};

#define PROCESSES_MAX (256u << 10)

struct process_counts {
	uint64_t seen;	  /* processes and their execs */
	uint64_t records; /* side events applied */
	uint64_t lost;	  /* side events that the kernel lost */
	uint64_t unheard; /* ends that only /proc told, since records were lost */
	uint64_t refused; /* processes or mappings beyond the limits */
};

/* modules is borrowed and outlives the table. */
int process_table_new(struct process_table **ret, struct module_table *modules,
		      const struct process_sink *sink);
void process_table_free(struct process_table *table);
DEFINE_FREEP(process_table)

int process_apply(struct process_table *table, const struct side_event *event);

/* A sample at that time: whoever was said to have ended has not. (A leader may
 * exit before its other threads.) */
void process_seen(struct process_table *table, uint32_t tgid, uint64_t time_ns);

/* NULL: never heard of. */
const struct process *process_get(const struct process_table *table, uint32_t tgid);

/* Some of its generated code was copied: the mapping is that from now on, until code is
 * mapped there once more. */
int process_put_copy(struct process_table *table, uint32_t tgid,
		     const struct mapping *copy);

/* Its JIT's dump has not grown since then. */
void process_set_code_since(struct process_table *table, uint32_t tgid,
			    uint64_t since_ns);

/* The one that has the pid now is this incarnation; NULL: it is another's, or ended. */
const struct process *process_running(const struct process_table *table, uint32_t tgid,
				      uint32_t incarnation);

/* The mapping at an address, NULL: none known. Lives until the next apply. */
const struct mapping *process_mapping(const struct process *process, uint64_t addr);

/* Is it there, as an event of today says? */
bool process_has_file(const struct process_table *table, const struct process *process,
		      const struct side_event *event);

/* All mappings, by address. */
const struct mapping *process_mappings(const struct process *process, size_t *ret_n);

/* The first one of generated code, whose module all of it has; NULL: there is none. */
const struct mapping *process_generated(const struct process *process);

/* For module_trim(): what any of them maps is needed. */
void process_mark_modules(const struct process_table *table);

/* Changes whenever they do; processes of one version have the same. 0: none. */
uint64_t process_version(const struct process *process);

/* for (size_t i = 0; (p = process_next(table, &i));) */
const struct process *process_next(const struct process_table *table, size_t *i);

/* Forgets those that ended before then. */
void process_forget(struct process_table *table, uint64_t before_ns);

const struct process_counts *process_counts(const struct process_table *table);

#endif
