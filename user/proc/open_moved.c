// SPDX-License-Identifier: BSD-2-Clause
#include "proc/open_moved.h"

#include "base/error.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256 /* of a dynamic section; an ordinary file has some 30 */

static bool is_address(Elf64_Sxword tag)
{
	return tag == DT_SYMTAB || tag == DT_STRTAB || tag == DT_HASH ||
	       tag == DT_GNU_HASH;
}

/* An address below `by` was not moved: another loader leaves them as they are. */
static int move_section(int fd, const Elf64_Phdr *dynamic, uint64_t by)
{
	Elf64_Dyn entries[DYNAMIC_MAX];
	size_t bytes = sizeof(entries);
	ssize_t n;

	if (bytes > dynamic->p_filesz)
		bytes = dynamic->p_filesz;
	n = pread(fd, entries, bytes, (off_t)dynamic->p_offset);
	if (n <= 0)
		return 0;
	for (size_t i = 0; i < (size_t)n / sizeof(*entries); i++)
		if (is_address(entries[i].d_tag) && entries[i].d_un.d_ptr >= by)
			entries[i].d_un.d_ptr -= by;
	return pwrite(fd, entries, (size_t)n, (off_t)dynamic->p_offset) == n
		       ? 0
		       : fail_errno(-errno, "cannot write a copy");
}

int open_move_back(int fd, uint64_t start)
{
	Elf64_Phdr segments[HEADERS_MAX];
	uint64_t by = 0;
	Elf64_Ehdr head;
	size_t bytes;
	int err = 0;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phnum > HEADERS_MAX)
		return 0;
	bytes = head.e_phnum * sizeof(*segments);
	if (pread(fd, segments, bytes, (off_t)head.e_phoff) != (ssize_t)bytes)
		return 0;
	for (unsigned int i = 0; i < head.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && !segments[i].p_offset)
			by = start - segments[i].p_vaddr;
	for (unsigned int i = 0; !err && by && i < head.e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			err = move_section(fd, &segments[i], by);
	return err;
}
