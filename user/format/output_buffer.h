/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_FORMAT_OUTPUT_BUFFER_H
#define WEFT_FORMAT_OUTPUT_BUFFER_H

#include "base/outfile.h"
#include "base/str.h"

/*
 * Text on its way to a file: fill text, call _drain() now and then. What is
 * gathered goes to the file in large pieces.
 */
struct output_buffer {
	struct outfile *out;
	struct str text;
};

int output_buffer_drain(struct output_buffer *buffer); /* writes if there is much */
int output_buffer_close(struct output_buffer *buffer); /* writes the rest, frees */
void output_buffer_free(struct output_buffer *buffer); /* after an error */

#endif
