// SPDX-License-Identifier: BSD-2-Clause
#include "bare.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPIED_MAX (64 << 20)

static bool has_header(int fd, const Elf64_Ehdr *header)
{
	for (int i = 0; i < header->e_phnum; i++) {
		off_t at = (off_t)(header->e_phoff + (size_t)i * sizeof(Elf64_Phdr));
		Elf64_Phdr phdr;

		if (pread(fd, &phdr, sizeof(phdr), at) == (ssize_t)sizeof(phdr) &&
		    phdr.p_type == PT_GNU_EH_FRAME)
			return true;
	}
	return false;
}

static int cut(int fd, size_t bytes, Elf64_Ehdr header)
{
	int copy = memfd_create("bare", MFD_CLOEXEC);
	off_t at = 0;

	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	while ((size_t)at < bytes)
		if (sendfile(copy, fd, &at, bytes - (size_t)at) <= 0)
			return -1;
	return pwrite(copy, &header, sizeof(header), 0) == (ssize_t)sizeof(header) ? copy
										   : -1;
}

/* Before the first entry, sections alone say what is code: of arm64's a return may be
 * told of that has no frame. */
static bool is_told_by_section(const struct truth *truth, const struct unwind_rule *rule,
			       const struct unwind_rule *other)
{
	return truth->is_arm64 && other->cfa == UNWIND_CFA_NONE &&
	       rule->cfa == UNWIND_CFA_SP && !rule->cfa_offset &&
	       rule->ra == UNWIND_RA_LR;
}

/* Of stubs and entry points a file without section headers says nothing. */
static bool same_rules(const struct image *of, const struct image *as,
		       const struct truth *truth)
{
	struct image_row *rows;
	size_t n = image_rows(of, &rows);
	bool same = true;

	for (size_t i = 0; i < n && same; i++) {
		struct unwind_rule rule = image_rule(as, rows[i].pc);

		if (!truth_no_cfi(truth, rows[i].pc))
			same = !memcmp(&rule, &rows[i].rule, sizeof(rule)) ||
			       is_told_by_section(truth, &rows[i].rule, &rule) ||
			       is_told_by_section(truth, &rule, &rows[i].rule);
	}
	free(rows);
	return same;
}

bool bare_agrees(int fd, const struct image *image, const struct truth *truth)
{
	AUTO(unwind_table) table = NULL;
	struct image bare = { 0 };
	AUTO_CLOSE int copy = -1;
	Elf64_Ehdr header;
	struct stat st;
	bool same;

	if (fstat(fd, &st) || st.st_size > COPIED_MAX ||
	    pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return true;
	if (!has_header(fd, &header))
		return true;
	copy = cut(fd, (size_t)st.st_size, header);
	if (copy < 0 || unwind_table_build(copy, NULL, &table) ||
	    !image_load(&bare, table)) {
		printf("# without section headers there is no table\n");
		return false;
	}
	same = same_rules(image, &bare, truth) && same_rules(&bare, image, truth);
	if (!truth->n_no_cfi)
		same = bare.head.n_pages == image->head.n_pages &&
		       !memcmp(bare.pages, image->pages,
			       bare.head.n_pages * sizeof(*bare.pages));
	if (!same)
		printf("# without section headers the table is another\n");
	image_free(&bare);
	return same;
}
