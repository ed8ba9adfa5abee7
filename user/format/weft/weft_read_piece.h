/* SPDX-License-Identifier: BSD-2-Clause */
/* A piece of a recording, unpacked, into a profile. */
#ifndef WEFT_FORMAT_WEFT_WEFT_READ_PIECE_H
#define WEFT_FORMAT_WEFT_WEFT_READ_PIECE_H

#include "core/profile.h"

enum { PIECE_DAMAGED = 1 };

struct piece_reader {
	struct profile *profile;
	int64_t second; /* that the log is at */
	bool was_cut, is_complete;
};

/* 0; PIECE_DAMAGED: the rows before the damage are in; a negative errno. */
int piece_apply(struct piece_reader *piece, const void *bytes, size_t n);

#endif
