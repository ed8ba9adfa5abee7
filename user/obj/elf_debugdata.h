/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols that a file carries packed: .gnu_debugdata is an ELF file of its own with
 * little but a .symtab, compressed as xz does it. Fedora's programs have it, for the
 * functions that .dynsym does not tell.
 */
#ifndef WEFT_OBJ_ELF_DEBUGDATA_H
#define WEFT_OBJ_ELF_DEBUGDATA_H

#include "obj/elf_file.h"

#define ELF_PACKED_MAX	 (32u << 20)  /* bytes of the section */
#define ELF_UNPACKED_MAX (128u << 20) /* and of what is in it */

struct elf_debugdata { /* {0} is none */
	unsigned char *bytes;
	size_t n;
	struct elf_file file; /* in bytes; open if there are any */
};

#define AUTO_DEBUGDATA __attribute__((cleanup(elf_debugdata_close))) struct elf_debugdata

/* 0, also when there is none; -EBADMSG: garbage, or another machine's; -EFBIG: more than
 * the limits; -ENOMEM; or the error of a read. */
int elf_debugdata_open(struct elf_file *file, struct elf_debugdata *ret);
void elf_debugdata_close(struct elf_debugdata *data);

#endif
