/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Go's table has for the instructions of a function, in the form that it has all of
 * it: a number for one piece of the code after the other. How far sp is below the return
 * address, the source file, the line, the function that was inlined. What the table has
 * for a function ends where it is garbage.
 */
#ifndef WEFT_OBJ_GO_VALUES_H
#define WEFT_OBJ_GO_VALUES_H

#include "obj/go_table.h"

struct go_values {
	const uint8_t *at, *stop;
	uint32_t quantum;
	bool begun;
	uint64_t end;  /* of the piece; it begins where the last one ended */
	uint32_t code; /* bytes that are left of the function */
	int32_t value;
};

/* at: where they are, as struct go_function and go_table_pcdata() tell; 0: there are
 * none. */
void go_values_begin(const struct go_table *table, const struct go_function *function,
		     uint32_t at, struct go_values *ret);
bool go_values_next(struct go_values *values);

#endif
