/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the table of shared/unwind.h of an ELF file's call frame information:
 * pages that are ready to be copied to where the ticks read them. Runs in the
 * parse worker.
 */
#ifndef WEFT_UNWIND_UNWIND_TABLE_H
#define WEFT_UNWIND_UNWIND_TABLE_H

#include "base/cleanup.h"
#include "unwind/cfi.h"
#include "shared/unwind.h"

#define UNWIND_ROWS_MAX (16u << 20) /* 64 MB */
/* what UNWIND_ROWS_MAX, as many rules and 4 GiB of text can come to */
#define UNWIND_PAGES_MAX      (32u << 10)
#define UNWIND_COPY_BYTES_MAX (1u << 20) /* of generated code (proc/open_code.h) */

/* Plain data: it crosses the worker's socket as bytes. */
struct unwind_stats {
	struct cfi_stats cfi;
	uint32_t n_rows; /* neighbours with one rule are one row */
	uint32_t n_rules;
	uint32_t n_left_out;	      /* rows of code more than 4 GiB behind the first */
	uint64_t unread_bytes;	      /* of code that nothing tells of: too much of it */
	uint32_t rows[N_UNWIND_CFAS]; /* of n_rows, by their rule */
};

struct unwind_table;

/* 0; -ENODATA: the file has no call frame information; or another negative
 * errno. fd is borrowed and read with pread(2). reads: what it was made from, or NULL. */
int unwind_table_build(int fd, struct range_recorder *recorder,
		       struct unwind_table **ret);
void unwind_table_free(struct unwind_table *table); /* NULL is fine */
DEFINE_FREEP(unwind_table)

const struct unwind_head *unwind_table_head(const struct unwind_table *table);
const struct unwind_stats *unwind_table_stats(const struct unwind_table *table);

/* One of the n_pages pages; generation stays 0. */
void unwind_table_page(const struct unwind_table *table, uint32_t page,
		       union unwind_page *ret);

#endif
