/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections by their name, which only what is not loaded needs to be found by. */
#ifndef WEFT_OBJ_ELF_SECTION_H
#define WEFT_OBJ_ELF_SECTION_H

#include "obj/elf_file.h"

#define SECTION_NAMES_MAX (64u << 10) /* bytes of names that are looked at */

/* 0, and the header of the first section of that name, whose bytes lie in the file, or
 * NULL. Otherwise as elf_file_read(), or -ENOMEM. */
int elf_section_find(struct elf_file *file, const char *name, const Elf64_Shdr **ret);

#endif
