/* SPDX-License-Identifier: BSD-2-Clause */
/* A piece of a recording in the making: columns, then a block in the file. */
#ifndef WEFT_FORMAT_WEFT_WEFT_WRITE_PIECE_H
#define WEFT_FORMAT_WEFT_WEFT_WRITE_PIECE_H

#include "base/cleanup.h"
#include "base/outfile.h"
#include "base/str.h"
#include "format/weft/weft_fields.h"

struct piece;

int piece_new(struct piece **ret, struct outfile *out);
void piece_free(struct piece *piece);
DEFINE_FREEP(piece)

/* A number more in a column; or its distance to the one before, there. */
void piece_put(struct piece *piece, enum piece_field column, uint64_t value);
void piece_put_step(struct piece *piece, enum piece_field column, uint64_t value);

/* A node's code: steps from frame to frame, marks stand between. */
void piece_put_code(struct piece *piece, uint32_t code);

/* A field that is a message, bytes or a string; and one that is a number. */
void piece_put_item(struct piece *piece, enum piece_field field, const void *bytes,
		    size_t n);
void piece_put_bytes(struct piece *piece, enum piece_field column, const void *bytes,
		     size_t n);
void piece_put_number(struct piece *piece, enum piece_field field, uint64_t value);

/* After each row: writes the piece if it is a large one. */
int piece_row(struct piece *piece);

/* Writes it, if it holds anything. */
int piece_write(struct piece *piece);

uint64_t piece_bytes_written(const struct piece *piece);

#endif
