/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file in memory that has a file's sections of debug information unpacked, as far
 * as they are looked at: a head that is made here, and paged memory behind it. So libdw,
 * which would hold all sections unpacked, reads no more than it needs, and all that it
 * returns is as if it had. Foreign bytes: run in the parse worker.
 */
#ifndef WEFT_OBJ_DWARF_IMAGE_H
#define WEFT_OBJ_DWARF_IMAGE_H

#include "base/cleanup.h"

#include <elfutils/libdw.h>
#include <stddef.h>

struct dwarf_image;

/* fd is borrowed. 0; DWARF_IMAGE_NONE: of such a file none is made (not of 64 bits, no
 * debug information, packed in another way than by zlib); or a negative errno. */
enum { DWARF_IMAGE_NONE = 1 };

int dwarf_image_new(struct dwarf_image **ret, int fd);
void dwarf_image_free(struct dwarf_image *image);
DEFINE_FREEP(dwarf_image)

void *dwarf_image_bytes(const struct dwarf_image *image, size_t *ret_n);

/* A second one within it, of one unit that has a unit's lines and nothing else. What
 * libdw holds of lines, it holds until the end, which so comes sooner. Good until the
 * next; 0, or -EBADMSG: the unit has no lines. */
int dwarf_image_lines(const struct dwarf_image *image, Dwarf_Die *unit, void **ret,
		      size_t *ret_n);

/* 0, or -EBADMSG, -EFBIG: what was looked at could not be unpacked, and is zeroes. */
int dwarf_image_error(const struct dwarf_image *image);

#endif
