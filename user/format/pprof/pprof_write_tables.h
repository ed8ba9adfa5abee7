/* SPDX-License-Identifier: BSD-2-Clause */
/* What the samples of a pprof profile refer to by number: strings, mappings,
 * functions and locations, made as they are asked for. */
#ifndef WEFT_FORMAT_PPROF_PPROF_WRITE_TABLES_H
#define WEFT_FORMAT_PPROF_PPROF_WRITE_TABLES_H

#include "core/profile.h"
#include "format/gzip.h"

struct pprof_tables;

int pprof_tables_new(struct pprof_tables **ret, const struct profile *profile);
void pprof_tables_free(struct pprof_tables *tables);
DEFINE_FREEP(pprof_tables)

/* A string's number; 0 where there is no memory, which _write() tells. */
uint64_t pprof_string(struct pprof_tables *tables, const char *s);

/* The locations of a stack, leaf first, packed; and how many boundaries it has. */
int pprof_locations(struct pprof_tables *tables, uint32_t node, struct str *ret,
		    unsigned int *ret_hops);

int pprof_tables_write(struct pprof_tables *tables, struct str *text, struct gzip *gzip);

#endif
