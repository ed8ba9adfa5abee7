/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file's code by pages, for who looks at many short stretches of it that lie close
 * together (MKL has 6,000): read one by one, there would be more ranges than a list of
 * what a table was made from may have.
 */
#ifndef WEFT_UNWIND_CODE_PAGES_H
#define WEFT_UNWIND_CODE_PAGES_H

#include "obj/elf_file.h"

#define CODE_PAGE_BYTES 4096u

struct code_pages {
	struct elf_file *file; /* borrowed */
	size_t left;	       /* bytes that may still be asked for */
	/* the page that was read last; 0 bytes: none */
	uint64_t page_offset;
	size_t page_bytes;
	uint8_t page[CODE_PAGE_BYTES];
};

/* {0} but for file and left. Up to n bytes of code at an address as linked into `to`: how
 * many there are; 0 also if that is more than is left, or can't be read. */
size_t code_pages_read(struct code_pages *pages, uint64_t vaddr, uint8_t *to, size_t n);

#endif
