/* SPDX-License-Identifier: BSD-2-Clause */
/* The notes in an ELF file's PT_NOTE segments, and in a section. */
#ifndef WEFT_OBJ_ELF_NOTE_H
#define WEFT_OBJ_ELF_NOTE_H

#include "obj/elf_file.h"

struct elf_note {
	const char *owner; /* owner_bytes with its NUL, if it has one */
	uint32_t owner_bytes;
	uint32_t type;
	const unsigned char *desc;
	uint32_t desc_bytes;
	uint64_t desc_vaddr;
};

typedef void (*elf_note_sink)(void *arg, const struct elf_note *note);

/* Calls each note. What is cut short or absurd ends its segment's walk. 0, or
 * the negative errno of a read; never -EBADMSG. */
int elf_note_each(struct elf_file *file, elf_note_sink sink, void *arg);

/* The same for those of a section. */
int elf_note_section(struct elf_file *file, const Elf64_Shdr *sh, elf_note_sink sink,
		     void *arg);

/* Is it of this owner and type? */
bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);

#endif
