/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions begin, by the table of .eh_frame_hdr that unwinders search: some 20
 * small reads, of a file that anyone may have made.
 */
#ifndef WEFT_OBJ_FDE_INDEX_H
#define WEFT_OBJ_FDE_INDEX_H

#include "obj/elf_scan.h"
#include "obj/file_pages.h"

struct fde {
	uint64_t begin, end; /* of the function, as linked; end is 0: not told as usual */
	uint64_t next;	     /* where the one behind it begins; UINT64_MAX: none does */
	bool is_silent;	     /* all through it the CFA is where it was at the call */
	uint64_t said_offset; /* its augmentation's length, and what is behind it */
	uint32_t said_bytes;
};

/* Has the file such a table, in the form that all linkers write? */
bool fde_index_is_usual(const struct paged_file *file, const struct elf_info *info);

/* Of the function that begins last at or before vaddr, as linked. False: there is none,
 * or no such table, or it can't be read. */
bool fde_index_find(const struct paged_file *file, const struct elf_info *info,
		    uint64_t vaddr, struct fde *ret);

/* Where the first function begins behind vaddr. False: none does, or as above. */
bool fde_index_next(const struct paged_file *file, const struct elf_info *info,
		    uint64_t vaddr, uint64_t *ret);

#endif
