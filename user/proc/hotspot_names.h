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

/* What leads to names, which stays as it is while the process runs. */
struct hotspot_view {
	struct hotspot_layout layout;
	struct hotspot vm;
	uint64_t pool_bytes; /* of a ConstantPool, without its entries */
};

/* As open_hotspot(). */
int hotspot_view_read(const struct hotspot_memory *memory,
		      const struct hotspot_symbols *symbols, struct hotspot_view *ret);
int open_hotspot_view(pid_t pid, const struct hotspot_symbols *symbols,
		      struct hotspot_view *ret);

/* An address of code; or with this bit that of a method of the JVM's. */
#define HOTSPOT_METHOD (1ULL << 63)

/*
 * A line "ADDRESS 1 NAME", without that bit, of each of these: the method as Java writes
 * it ("void Class.method(int)"), whose code may have inlined others; or what the JVM
 * calls its own code. In order they cost less. What can't be read of one leaves that
 * out. 0 or -ENOMEM.
 */
int hotspot_names(const struct hotspot_memory *memory, const struct hotspot_view *view,
		  const uint64_t *addrs, size_t n, struct str *ret);

/* The same of a process, as a sealed copy. */
int open_hotspot_names(pid_t pid, const struct hotspot_view *view, const uint64_t *addrs,
		       size_t n, int *ret_fd);

#endif
