/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which methods a JVM's code is of, by its own structures in another process's memory.
 * What comes of it is a perf map of single addresses. To read them may wait: see
 * proc/opener.h.
 */
#ifndef WEFT_PROC_HOTSPOT_NAMES_H
#define WEFT_PROC_HOTSPOT_NAMES_H

#include "base/str.h"
#include "proc/open_hotspot.h"

#define HOTSPOT_NAMES_MAX 256 /* addresses at a time */

/* Where a process has the two variables of these names. */
struct hotspot_symbols {
	uint64_t structs, types;
};

/* Of n addresses. */
struct hotspot_wanted {
	struct hotspot_symbols symbols;
	const uint64_t *addrs;
	size_t n;
};

/*
 * A line "ADDRESS 1 NAME" of each address in code of the JVM: the method as
 * Java writes it ("void Class.method(int)"), which may have inlined others; or what the
 * JVM calls its own code. 0; as open_hotspot() of the whole; what can't be read of one
 * address leaves that out.
 */
int hotspot_names(const struct hotspot_memory *memory,
		  const struct hotspot_wanted *wanted, struct str *ret);

/* The same of a process, as a sealed copy. */
int open_hotspot_names(pid_t pid, const struct hotspot_wanted *wanted, int *ret_fd);

#endif
