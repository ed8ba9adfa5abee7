/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of Java's code, as the JVM itself has them (proc/hotspot_names.h). They are
 * asked for soon after a sample fell into the code: later it may be thrown away, or the
 * process gone. What was learned is kept as a perf map until its window has its names.
 */
#ifndef WEFT_SYM_JVM_NAMES_H
#define WEFT_SYM_JVM_NAMES_H

#include "core/aggregator.h"
#include "proc/opener.h"
#include "sym/files.h"

#define JVM_NAMES_MAX	    1024       /* processes */
#define JVM_NAMES_BYTES_MAX (8u << 20) /* of one's names, in a window */

struct jvm_names;

struct jvm_names_sources {
	const struct module_table *modules;
	const struct files *files;
	struct opener *opener;
};

/* What the sources name is borrowed and outlives it. */
int jvm_names_new(struct jvm_names **ret, const struct jvm_names_sources *sources);
void jvm_names_free(struct jvm_names *names);
DEFINE_FREEP(jvm_names)

/* Asks for names of code that was sampled since the last time: of each process once a
 * second, of an old one each four seconds, or now. */
void jvm_names_look(struct jvm_names *names, const struct aggregator *aggregator,
		    const struct process_table *processes, bool now);

/* A window was closed; the next look is at another one's samples. What the window before
 * had is let go. */
void jvm_names_next_window(struct jvm_names *names,
			   const struct process_table *processes);

/* A perf map of a process's code as it was in the last window that was closed, or in the
 * one at hand; the caller closes it. -ENOENT: there is none. */
int jvm_names_fd(const struct jvm_names *names, uint32_t tgid, uint32_t incarnation,
		 int *ret_fd);

#endif
