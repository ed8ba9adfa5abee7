/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a JVM's own structures are laid out, as HotSpot tells debuggers: an array of
 * fields, of a type and a name each, which libjvm.so exports. Read of memory that may be
 * anything.
 */
#ifndef WEFT_PROC_HOTSPOT_LAYOUT_H
#define WEFT_PROC_HOTSPOT_LAYOUT_H

#include "shared/hotspot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where fields lie in their structures, and (…_AT) variables in memory. */
enum place {
	HEAPS_AT, /* one of these two */
	HEAP_AT,
	LENGTH,
	DATA,
	MEMORY,
	SEGMENTS,
	SHIFT,
	LOW,
	HIGH,
	USED,
	FRAME_WORDS,
	FRAME_COMPLETE,
	CODE_BEGIN, /* one of these two */
	CODE_OFFSET,
	QUEUE_AT,
	QUEUE_BUFFER,
	QUEUE_LIMIT,
	CALL_STUB_RETURN_AT,
	BLOB_NAME, /* from here on for names alone */
	BLOB_BYTES,
	METHOD,
	CONST_METHOD,
	CONSTANTS,
	NAME_INDEX,
	SIGNATURE_INDEX,
	HOLDER,
	CLASS_NAME,
	TEXT_LENGTH,
	TEXT,
	N_PLACES
};

struct hotspot_layout {
	uint64_t of[N_PLACES];
	bool has[N_PLACES];	      /* all but names' have what is needed */
	unsigned char complete_bytes; /* of FRAME_COMPLETE */
};

/* Memory of a process, or of a test. read: n bytes from addr on; at least `least` of
 * them, or a negative errno. */
struct hotspot_memory {
	int (*read)(const struct hotspot_memory *memory, uint64_t addr, void *into,
		    size_t least, size_t n);
	pid_t pid; /* of hotspot_memory_of() */
};

/* -ESRCH: it is gone; -EPERM: it can't be read; -EFAULT: not there. */
struct hotspot_memory hotspot_memory_of(pid_t pid);

/* vm_structs: where HOTSPOT_SYMBOL lies. 0; -EAGAIN: it is not linked yet; -ENOTSUP:
 * there are no such structures, or other ones; or of the memory. */
int hotspot_layout_read(const struct hotspot_memory *memory, uint64_t vm_structs,
			struct hotspot_layout *ret);

/* How large structures of that type are. vm_types: where HOTSPOT_TYPES_SYMBOL lies. */
int hotspot_size_read(const struct hotspot_memory *memory, uint64_t vm_types,
		      const char *type, uint64_t *ret);

/* Reads on until something fails; from then on all is 0. */
struct hotspot_look {
	const struct hotspot_memory *memory;
	const struct hotspot_layout *layout;
	int err;
};

uint64_t hotspot_look_at(struct hotspot_look *look, uint64_t addr, size_t bytes);

/* A field of what lies at `object`; 0: nothing does. */
uint64_t hotspot_look_field(struct hotspot_look *look, uint64_t object, enum place field,
			    size_t bytes);

#endif
