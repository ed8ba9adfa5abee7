/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_FORMAT_PEN_H
#define WEFT_FORMAT_PEN_H

#include "base/outfile.h"
#include "base/str.h"

/*
 * Text on its way to a file: fill text, call _pass() now and then. What is
 * gathered goes to the file in large pieces.
 */
struct pen {
	struct outfile *out;
	struct str text;
};

int pen_pass(struct pen *pen);	/* writes if there is much */
int pen_close(struct pen *pen); /* writes the rest, frees */
void pen_free(struct pen *pen); /* after an error */

#endif
