/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch of a recording in the making: columns, then a block in the file. */
#ifndef WEFT_FORMAT_WEFT_WEFT_WRITE_BATCH_H
#define WEFT_FORMAT_WEFT_WEFT_WRITE_BATCH_H

#include "base/cleanup.h"
#include "base/outfile.h"
#include "base/str.h"
#include "format/weft/weft_fields.h"

struct batch;

int batch_new(struct batch **ret, struct outfile *out);
void batch_free(struct batch *batch);
DEFINE_FREEP(batch)

/* A number more in a column; or its distance to the one before, there. */
void batch_put(struct batch *batch, enum batch_field column, uint64_t value);
void batch_put_step(struct batch *batch, enum batch_field column, uint64_t value);

/* A node's code: steps from frame to frame, marks stand between. */
void batch_put_code(struct batch *batch, uint32_t code);

/* A field that is a message, bytes or a string; and one that is a number. */
void batch_put_item(struct batch *batch, enum batch_field field, const void *bytes,
		    size_t n);
void batch_put_bytes(struct batch *batch, enum batch_field column, const void *bytes,
		     size_t n);
void batch_put_number(struct batch *batch, enum batch_field field, uint64_t value);

/* After each row: writes the batch if it is a large one. */
int batch_row(struct batch *batch);

/* Writes it, if it holds anything. */
int batch_write(struct batch *batch);

uint64_t batch_bytes_written(const struct batch *batch);

#endif
