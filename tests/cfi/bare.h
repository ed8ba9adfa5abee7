/* SPDX-License-Identifier: BSD-2-Clause */
/* The same file as the loader sees it: without section headers. */
#ifndef WEFT_TESTS_CFI_BARE_H
#define WEFT_TESTS_CFI_BARE_H

#include "image.h"
#include "readelf.h"

/* Does the table come out the same, but for stubs and entry points, of which only
 * sections tell? True of a file that is too large to copy, or has no
 * .eh_frame_hdr. */
bool bare_agrees(int fd, const struct image *image, const struct truth *truth);

#endif
