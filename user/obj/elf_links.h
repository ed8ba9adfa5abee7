/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which other file has an ELF file's debug information, as it says itself, and whether a
 * file is that one. A path proves nothing: what lies there may be of another build. Both
 * are asked of the parse worker, as names are (obj/names.h).
 */
#ifndef WEFT_OBJ_ELF_LINKS_H
#define WEFT_OBJ_ELF_LINKS_H

#include "obj/elf_scan.h"

/* What elf_links() is asked, and answers with a name:
 * .gnu_debuglink: the debug file's name, without a folder; as its start the CRC.
 * .gnu_debugaltlink of dwz, which puts what several files share into an alternate one, or
 * .debug_sup of DWARF 5 (dwz -5): that one's name from ".dwz/" on, if it has such a part,
 * and its build id in hex; of DWARF 5 what identifies it instead. */
enum elf_link { ELF_LINK_DEBUG, ELF_LINK_ALTERNATE, ELF_LINK_ALTERNATE_ID, N_ELF_LINKS };

#define ELF_LINK_DWZ   ".dwz/"
#define ELF_LINK_BYTES 256 /* longer ones are no names of files */

/* What tells one file from all others; elf_same() is asked for it as ELF_IDENTITY_WORDS
 * addresses, and answers with any name if the file is that one. By build id if both have
 * one, else by the CRC of all of it. */
struct elf_identity {
	uint32_t build_id_bytes; /* 0: none is known */
	uint32_t has_crc;
	uint32_t crc;
	uint8_t build_id[BUILD_ID_MAX];
};

#define ELF_IDENTITY_WORDS (sizeof(struct elf_identity) / sizeof(uint64_t))

_Static_assert(sizeof(struct elf_identity) % sizeof(uint64_t) == 0,
	       "an identity is whole words");

#endif
