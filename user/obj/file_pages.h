/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of files a page at a time, of which the last ones are kept: small reads that lie
 * close together, or come again and again as the first steps of a search do, cost one
 * read a page. How long may still be read is the caller's to say.
 */
#ifndef WEFT_OBJ_FILE_PAGES_H
#define WEFT_OBJ_FILE_PAGES_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_pages;

int file_pages_new(struct file_pages **ret);
void file_pages_free(struct file_pages *pages);
DEFINE_FREEP(file_pages)

/*
 * Reads may take so long from now on; without this as long as they like. A page that is
 * in memory counts as 1 us whatever the CPU does meanwhile, and one that is not as long
 * as it takes to come.
 */
void file_pages_allow(struct file_pages *pages, uint64_t us);
uint64_t file_pages_left_us(const struct file_pages *pages);
/* So long was needed for what was read. */
void file_pages_spend(struct file_pages *pages, uint64_t us);

/* A file and the pages of all files that are read; both are borrowed. */
struct paged_file {
	struct file_pages *pages;
	int fd;
};

/* How many of n bytes there are: less at the end of the file, where it can't be read, or
 * when the time is over. */
size_t paged_read(const struct paged_file *file, uint64_t offset, void *buf, size_t n);

#endif
