/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code cache of a JVM in another process's memory (shared/hotspot.h). HotSpot tells
 * debuggers how its own structures are laid out, in an array that libjvm.so exports
 * (HOTSPOT_SYMBOL); here that leads to its code heaps, by words that may be anything. To
 * read them may wait: see proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_HOTSPOT_H
#define WEFT_PROC_OPEN_HOTSPOT_H

#include "shared/hotspot.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * vm_structs: where that variable lies in the process. 0; -EAGAIN: the JVM has not made
 * all of it yet; -ENOTSUP: it has no such structures, or other ones; -EFAULT: it is not
 * where it says; -ESRCH: the process is gone; -EPERM: its memory can't be read.
 */
int open_hotspot(pid_t pid, uint64_t vm_structs, struct hotspot *ret);

/* The same of any memory. read: n bytes from addr on; at least `least` of them, or a
 * negative errno. */
struct hotspot_memory {
	int (*read)(const struct hotspot_memory *memory, uint64_t addr, void *into,
		    size_t least, size_t n);
	pid_t pid; /* open_hotspot()'s */
};

int hotspot_read(const struct hotspot_memory *memory, uint64_t vm_structs,
		 struct hotspot *ret);

/* Can it be one? */
int hotspot_check(const struct hotspot *vm);

#endif
