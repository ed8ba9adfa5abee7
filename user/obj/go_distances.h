/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far sp is below the return address in a function of Go's table, for one piece of
 * its code after the other. What the table has for a function ends where it is garbage.
 */
#ifndef WEFT_OBJ_GO_DISTANCES_H
#define WEFT_OBJ_GO_DISTANCES_H

#include "obj/go_table.h"

struct go_distances {
	const uint8_t *at, *stop;
	uint32_t quantum;
	bool begun;
	uint64_t end;	  /* of the piece; it begins where the last one ended */
	uint32_t code;	  /* bytes that are left of the function */
	int32_t distance; /* in bytes */
};

void go_distances_begin(const struct go_table *table, const struct go_function *function,
			struct go_distances *ret);
bool go_distances_next(struct go_distances *distances);

#endif
