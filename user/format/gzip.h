/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way to a file as gzip's. */
#ifndef WEFT_FORMAT_GZIP_H
#define WEFT_FORMAT_GZIP_H

#include "base/cleanup.h"
#include "base/outfile.h"
#include "base/str.h"

/* Of zlib's, for all that is compressed: profiles are 1 to 4 % larger than by its own
 * choice, in two thirds of the time. */
#define DEFLATE_LEVEL 4

struct gzip;

int gzip_new(struct gzip **ret, struct outfile *out);
void gzip_free(struct gzip *gzip);
DEFINE_FREEP(gzip)

/* Takes what text holds once that is much; text is empty then. */
int gzip_pass(struct gzip *gzip, struct str *text);

/* Takes all that text holds, and ends. */
int gzip_finish(struct gzip *gzip, struct str *text);

#endif
