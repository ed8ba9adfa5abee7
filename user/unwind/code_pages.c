// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/code_pages.h"

#include "base/error.h"

#include <string.h>

static bool load_page(struct code_pages *pages, uint64_t offset)
{
	uint64_t n = pages->file->bytes - offset;

	if (pages->page_bytes && pages->page_offset == offset)
		return true;
	pages->page_offset = offset;
	pages->page_bytes = n < CODE_PAGE_BYTES ? n : CODE_PAGE_BYTES;
	if (!elf_file_read(pages->file, offset, pages->page, pages->page_bytes))
		return true;
	error_clear(); /* what can't be read stays as the file has it */
	pages->page_bytes = 0;
	return false;
}

static bool read_paged(struct code_pages *pages, uint64_t offset, uint8_t *to, size_t n)
{
	for (size_t got = 0, one; got < n; got += one) {
		size_t into = (offset + got) % CODE_PAGE_BYTES;

		if (!load_page(pages, offset + got - into) || pages->page_bytes <= into)
			return false;
		one = pages->page_bytes - into < n - got ? pages->page_bytes - into
							 : n - got;
		memcpy(to + got, pages->page + into, one);
	}
	return true;
}

size_t code_pages_read(struct code_pages *pages, uint64_t vaddr, uint8_t *to, size_t n)
{
	uint64_t offset, there;

	if (!elf_file_offset(pages->file, vaddr, &offset, &there))
		return 0;
	n = there < n ? there : n;
	if (n > pages->left)
		return 0;
	pages->left -= n;
	return read_paged(pages, offset, to, n) ? n : 0;
}
