/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a process context (proc/open_context.h): the message ProcessContext of
 * opentelemetry.proto.processcontext.v1development. Foreign bytes: the parse worker reads
 * them, by process_context_values() of obj/names.h.
 */
#ifndef WEFT_OBJ_PROCESS_CONTEXT_H
#define WEFT_OBJ_PROCESS_CONTEXT_H

#include "base/resource.h"

/* The attributes of its resource that become labels. 0, or -EBADMSG: nothing is taken. */
int process_context_read(struct resource *ret, const void *bytes, size_t n);

#endif
