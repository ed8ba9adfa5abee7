/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of source and inlined functions of a Go program, out of the table that its
 * runtime tells its own stacks by (obj/go_table.h): also those of a stripped one.
 *
 * Which functions were inlined where is counted from an address that only
 * runtime.moduledata tells (obj/go_module.h). Without it, an instruction of an inlined
 * function has no answer: its line alone would be taken for its caller's. Nor has one
 * whose callers go in a circle, as Go 1.24 leaves some that a package's init calls.
 */
#ifndef WEFT_OBJ_GO_LINES_H
#define WEFT_OBJ_GO_LINES_H

#include "obj/inlines.h"

/* addrs: as linked, in any order. As elf_inlines(), which asks this one; 0 also where
 * there is no such table. */
int go_lines(int fd, const uint64_t *addrs, size_t n, inline_sink sink, void *arg);

#endif
