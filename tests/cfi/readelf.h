/* SPDX-License-Identifier: BSD-2-Clause */
/* What binutils' readelf says of a file's call frames: the truth to compare with. */
#ifndef WEFT_TESTS_CFI_READELF_H
#define WEFT_TESTS_CFI_READELF_H

#include "exprs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CELL_BYTES 16

/* [begin, end), in readelf's words: "rsp+8", "c-16", "u", "exp", … */
struct truth_row {
	uint64_t begin, end;
	bool is_signal; /* augmentation S */
	bool ra_is_odd; /* the return address has another register's column */
	char cfa[CELL_BYTES];
	char fp[CELL_BYTES]; /* "" when it has no column */
	char ra[CELL_BYTES];
	char sp[CELL_BYTES];
	char bx[CELL_BYTES]; /* x86-64's rbx */
};

struct truth {
	struct truth_row *rows; /* in order of address; none is empty */
	size_t n;
	size_t overlaps; /* rows that another's cut short */
	bool is_arm64;
	/* of which there is no call frame information; or 0 */
	uint64_t plt, plt_end;
	uint64_t entry, entry_end;
	struct exprs exprs;
};

static inline bool truth_is_stub(const struct truth *truth, uint64_t pc)
{
	return pc - truth->plt < truth->plt_end - truth->plt;
}

static inline bool truth_is_entry(const struct truth *truth, uint64_t pc)
{
	return pc - truth->entry < truth->entry_end - truth->entry;
}

/* False: readelf says nothing of it. */
bool truth_read(struct truth *truth, const char *readelf, const char *path);
void truth_free(struct truth *truth);

#endif
