/* SPDX-License-Identifier: BSD-2-Clause */
/* What the samples of a pprof profile refer to by number. */
#ifndef WEFT_FORMAT_PPROF_PPROF_READ_TABLES_H
#define WEFT_FORMAT_PPROF_PPROF_READ_TABLES_H

#include "format/stack.h"

struct pprof_in;

/* bytes: of the whole profile, borrowed for as long. -EFBIG: there is more of something
 * than items_max. */
int pprof_in_new(struct pprof_in **ret, struct profile *profile, const struct str *bytes,
		 size_t items_max);
void pprof_in_free(struct pprof_in *tables);
DEFINE_FREEP(pprof_in)

/* Not NUL terminated; "" for a number that there is none of. */
const char *pprof_in_string(const struct pprof_in *tables, uint64_t id, size_t *ret_n);

/* A location's frames, innermost first, to the stack at hand. */
int pprof_in_location(struct pprof_in *tables, uint64_t id, struct stack_builder *b);

#endif
