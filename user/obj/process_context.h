/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a process context (proc/open_context.h): the message ProcessContext of
 * opentelemetry.proto.processcontext.v1development. Foreign bytes: the parse worker reads
 * them, by process_context_values() of obj/names.h.
 */
#ifndef WEFT_OBJ_PROCESS_CONTEXT_H
#define WEFT_OBJ_PROCESS_CONTEXT_H

#include "base/resource.h"
#include "shared/thread_context.h"

struct context_key { /* borrowed from the message */
	const unsigned char *text;
	size_t n;
};

struct process_context {
	struct resource resource; /* its attributes that become labels */
	/* of its threads' contexts (shared/thread_context.h), by index */
	struct context_key keys[ATTRIBUTE_KEYS];
	size_t n_keys;
};

/* 0, or -EBADMSG: nothing is taken. */
int process_context_read(struct process_context *ret, const void *bytes, size_t n);

#endif
