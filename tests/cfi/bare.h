/* SPDX-License-Identifier: BSD-2-Clause */
/* The same file as the loader sees it: without section headers. */
#ifndef WEFT_TESTS_CFI_BARE_H
#define WEFT_TESTS_CFI_BARE_H

#include "image.h"

/* Does the table come out the same, but for [but, end), of which only a section
 * tells? True of a file that is too large to copy, or has no .eh_frame_hdr. */
bool bare_agrees(int fd, const struct image *image, uint64_t but, uint64_t end);

#endif
