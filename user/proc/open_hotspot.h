/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code cache of a JVM in another process's memory (shared/hotspot.h), by the layout
 * of its structures and words that may be anything. To read them may wait: see
 * proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_HOTSPOT_H
#define WEFT_PROC_OPEN_HOTSPOT_H

#include "proc/hotspot_layout.h"

/*
 * vm_structs: where that variable lies in the process. 0; -EAGAIN: the JVM has not made
 * all of it yet; -ENOTSUP: it has no such structures, or other ones; -EFAULT: it is not
 * where it says; -ESRCH: the process is gone; -EPERM: its memory can't be read.
 */
int open_hotspot(pid_t pid, uint64_t vm_structs, struct hotspot *ret);

/* The same of any memory. */
int hotspot_take(const struct hotspot_memory *memory, const struct hotspot_layout *layout,
		 struct hotspot *ret);
int hotspot_read(const struct hotspot_memory *memory, uint64_t vm_structs,
		 struct hotspot *ret);

/* Can it be one? */
int hotspot_check(const struct hotspot *vm);

#endif
