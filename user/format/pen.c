// SPDX-License-Identifier: BSD-2-Clause
#include "format/pen.h"

#define PASS_BYTES (256u << 10)

int pen_pass(struct pen *pen)
{
	int err = str_error(&pen->text);

	if (err || pen->text.n < PASS_BYTES)
		return err;
	err = outfile_add(pen->out, pen->text.s, pen->text.n);
	str_clear(&pen->text);
	return err;
}

int pen_close(struct pen *pen)
{
	int err = str_error(&pen->text);

	if (!err && pen->text.n)
		err = outfile_add(pen->out, pen->text.s, pen->text.n);
	pen_free(pen);
	return err;
}

void pen_free(struct pen *pen)
{
	str_free(&pen->text);
}
