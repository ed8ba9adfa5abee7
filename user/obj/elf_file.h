/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An open ELF file, read with pread(2) and never mapped: another process may
 * truncate it meanwhile. Its headers are kept; everything else is read piece
 * by piece, within the file's size and a budget, so that no file costs more
 * than a bounded time and memory. Only 64-bit little endian executables, shared
 * objects, and objects that are mapped as they are (JITs precompile to these), of any
 * machine.
 */
#ifndef WEFT_OBJ_ELF_FILE_H
#define WEFT_OBJ_ELF_FILE_H

#include "obj/byte_ranges.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_READ_MAX  (512u << 20) /* bytes of one file, over all passes */
#define ELF_PIECE_MAX (128u << 10) /* bytes of a table that are held at once */

struct elf_file {
	int fd;			     /* borrowed */
	const unsigned char *memory; /* borrowed; NULL: the bytes are fd's */
	uint64_t bytes;
	uint64_t budget;
	struct range_recorder *recorder; /* NULL: nobody records them */
	Elf64_Ehdr header;
	Elf64_Phdr *phdrs;
	size_t n_phdrs;
	Elf64_Shdr *shdrs; /* none when absent or unreadable */
	size_t n_shdrs;
};

#define AUTO_ELF __attribute__((cleanup(elf_file_close))) struct elf_file

/* 0; -ENOEXEC: not such a file; -EBADMSG: garbage; -errno of a read. */
int elf_file_open(struct elf_file *file, int fd);

/* The same; recorder, which may be NULL, is begun and records whatever is read. */
int elf_file_open_recorded(struct elf_file *file, int fd,
			   struct range_recorder *recorder);

/* The same of n bytes in memory, which are borrowed. */
int elf_file_open_memory(struct elf_file *file, const void *bytes, size_t n);
void elf_file_close(struct elf_file *file); /* frees the headers; {0} is fine */

/* What comes of the file depends on more than its bytes: memory ran out. */
void elf_file_stop_recording(struct elf_file *file);

/* Where a symbol lies; in an object file its value is only where in its section. */
uint64_t elf_file_symbol(const struct elf_file *file, const Elf64_Sym *sym);

/* All n bytes, or -EBADMSG: past the end or past the budget; or -errno. */
int elf_file_read(struct elf_file *file, uint64_t offset, void *buf, size_t n);

/* Where in the file the byte at vaddr lies, and how many of its segment's
 * bytes follow it there. False: not in the file. */
bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
		     uint64_t *ret_bytes);

/* The address as linked of a byte of the file; where two segments hold it, of
 * the one that is code. False: not loaded. */
bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *ret_vaddr);

/* Is [vaddr, vaddr + n) memory of a segment with all these PF_ flags? */
bool elf_file_loads(const struct elf_file *file, uint64_t vaddr, uint64_t n,
		    uint32_t flags);

/* Is a section code, of which the file has the bytes? */
static inline bool elf_section_is_code(const Elf64_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_EXECINSTR;
}

/* The one that holds the address; NULL: none does. The file's own. */
const Elf64_Shdr *elf_file_code_section(const struct elf_file *file, uint64_t vaddr);

#endif
