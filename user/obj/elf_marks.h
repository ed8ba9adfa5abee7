/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is folly's code of async stacks, or libunifex's, in a file that shows no key? A
 * stripped program keeps the texts by which that code complains.
 */
#ifndef WEFT_OBJ_ELF_MARKS_H
#define WEFT_OBJ_ELF_MARKS_H

#include "obj/elf_table.h"

/* For a file without .symtab. What cannot be read holds nothing. */
bool elf_marks_async(struct elf_file *file, const struct elf_dynamic *dynamic);

#endif
