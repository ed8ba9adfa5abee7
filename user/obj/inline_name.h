/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name of an inlined function, as debug information has it: the linkage name,
 * demangled; where a compiler gave none (g++, of many), the name, and in C++ what it
 * lies in before it. Those are found by going through a unit once, and kept.
 */
#ifndef WEFT_OBJ_INLINE_NAME_H
#define WEFT_OBJ_INLINE_NAME_H

#include "base/str.h"
#include "base/vec.h"

#include <elfutils/libdw.h>

#define INLINE_DEPTH_MAX 256 /* of blocks and functions in a unit's tree */

/* What lies in what, as offsets. */
struct inline_home {
	Dwarf_Off at;
	Dwarf_Off in; /* a namespace, class or function; 0: none */
};

struct inline_unit {
	const Dwarf *file; /* this, its alternate or a split one: offsets begin anew */
	Dwarf_Off at;
	size_t first, n; /* homes, as they follow each other in the file */
};

struct inline_names { /* {0} is an empty one */
	VEC(struct inline_home) homes;
	VEC(struct inline_unit) units;
	size_t last;  /* the unit asked for last */
	size_t steps; /* taken so far, bounded */
};

void inline_names_free(struct inline_names *names); /* what it holds */

/* Before a file is closed whose functions were asked for, as another may come to lie
 * there. */
void inline_names_forget(struct inline_names *names);

/* Adds the clean name, shorter than NAME_BYTES_MAX. 0; 1 if it has none; or -ENOMEM.
 * names: of one file. */
int inline_name(struct inline_names *names, Dwarf_Die *die, struct str *out);

#endif
