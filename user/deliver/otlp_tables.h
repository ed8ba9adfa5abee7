/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dictionary of an export: tables that everything else refers to by number, whose
 * number 0 is "none". pprof counts its ids from 1 and without holes, so mappings,
 * locations, functions and strings keep their numbers. Only what pprof writes into each
 * sample has numbers of its own: attributes, stacks
 * and links.
 */
#ifndef WEFT_DELIVER_OTLP_TABLES_H
#define WEFT_DELIVER_OTLP_TABLES_H

#include "base/cleanup.h"
#include "base/proto.h"
#include "shared/thread_context.h"

#include <stdint.h>

struct otlp_tables;

/* Looks through a pprof profile, not packed, which stays borrowed. 0, -ENOMEM, or
 * -EBADMSG: it is not as weft writes them. */
int otlp_tables_new(struct otlp_tables **ret, const void *pprof, size_t n);
void otlp_tables_free(struct otlp_tables *tables);
DEFINE_FREEP(otlp_tables)

/* A string that pprof has; "" if it has none of that number. Not NUL-terminated. */
struct proto_field otlp_text(const struct otlp_tables *tables, uint64_t number);

/* Numbers. What goes wrong is told by _write(). */
uint64_t otlp_string(struct otlp_tables *tables, const void *s, size_t n);
/* value: an AnyValue */
uint64_t otlp_attribute(struct otlp_tables *tables, const char *key,
			const struct str *value);
/* The locations of a sample of pprof: its fields that name some, packed or not. */
uint64_t otlp_stack(struct otlp_tables *tables, const struct proto_field *sample);

uint64_t otlp_link(struct otlp_tables *tables, const struct trace_ids *ids);

/* Once nothing more is asked for. 0, -ENOMEM or -EBADMSG. */
int otlp_tables_write(struct otlp_tables *tables, struct str *out);

/* An AnyValue. */
void otlp_any_text(struct str *out, const void *s, size_t n);
void otlp_any_number(struct str *out, uint64_t number);

#endif
