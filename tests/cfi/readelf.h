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
	bool is_signal;	    /* augmentation S */
	bool ra_is_unusual; /* the return address has another register's column */
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
	/* of which there is no call frame information */
	struct truth_code {
		uint64_t begin, end;
		enum { TRUTH_PLT, TRUTH_INIT, TRUTH_ENTRY } kind;
	} no_cfi[4];
	size_t n_no_cfi;
	struct exprs exprs;
};

/* The code that holds pc, of which readelf tells nothing; or NULL. */
const struct truth_code *truth_no_cfi(const struct truth *truth, uint64_t pc);

/* False: readelf says nothing of it. */
bool truth_read(struct truth *truth, const char *readelf, const char *path);
void truth_free(struct truth *truth);

#endif
