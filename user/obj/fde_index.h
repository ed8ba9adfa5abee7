/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions begin, by the table of .eh_frame_hdr that unwinders search: a few
 * reads of 8 bytes, of a file that anyone may have made.
 */
#ifndef WEFT_OBJ_FDE_INDEX_H
#define WEFT_OBJ_FDE_INDEX_H

#include "obj/elf_scan.h"

/* The last address at or before vaddr, as linked, at which a function begins. False:
 * there is none, or no such table, or it can't be read. */
bool fde_index_begin(int fd, const struct elf_facts *facts, uint64_t vaddr,
		     uint64_t *ret_begin);

#endif
