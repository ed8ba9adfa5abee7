// SPDX-License-Identifier: BSD-2-Clause
#include "format/output_buffer.h"

#define DRAIN_BYTES (256u << 10)

int output_buffer_drain(struct output_buffer *buffer)
{
	int err = str_error(&buffer->text);

	if (err || buffer->text.n < DRAIN_BYTES)
		return err;
	err = outfile_add(buffer->out, buffer->text.s, buffer->text.n);
	str_clear(&buffer->text);
	return err;
}

int output_buffer_close(struct output_buffer *buffer)
{
	int err = str_error(&buffer->text);

	if (!err && buffer->text.n)
		err = outfile_add(buffer->out, buffer->text.s, buffer->text.n);
	output_buffer_free(buffer);
	return err;
}

void output_buffer_free(struct output_buffer *buffer)
{
	str_free(&buffer->text);
}
