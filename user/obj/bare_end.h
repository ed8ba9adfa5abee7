/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a function ends whose symbol has no size, as far as its instructions show
 * (obj/code_starts.h). One is remembered, since who asks goes up. */
#ifndef WEFT_OBJ_BARE_END_H
#define WEFT_OBJ_BARE_END_H

#include "obj/candidates.h"
#include "obj/elf_file.h"

struct bare_end {	       /* {0}: nothing was asked */
	uint64_t start, end;   /* of the one that was looked at last */
	uint64_t first_called; /* where a call leads, behind its start; or its end */
	size_t bytes;	       /* of all that were; there is a limit */
};

/* It ends at its start if it can't be looked at. 0, or -ENOMEM. */
int bare_end_find(struct bare_end *bare, struct elf_file *file,
		  const struct candidate *function);

#endif
