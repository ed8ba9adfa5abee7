/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of an unwind table in fewer bytes, half as many or less. An item mostly
 * differs little from the one before it, so the differences are kept, halfword by
 * halfword, small ones in one byte and rows of zeros in two. It knows nothing of
 * what a page means but how large its items are: whatever it held comes back.
 */
#ifndef WEFT_UNWIND_PACK_H
#define WEFT_UNWIND_PACK_H

#include "shared/unwind.h"

#include <stddef.h>
#include <stdint.h>

#define PACKED_BYTES_MAX (UNWIND_PAGE_BYTES / 2 * 3) /* of one page */

/* The bytes of an item of this page. */
size_t pack_item_bytes(const struct unwind_head *head, uint32_t page);

/* How many of out, PACKED_BYTES_MAX of them, it takes. */
size_t pack_page(const union unwind_page *page, size_t item_bytes, uint8_t *out);

/* How many of the n bytes it took; 0: they are no page. */
size_t unpack_page(const uint8_t *bytes, size_t n, size_t item_bytes,
		   union unwind_page *ret);

#endif
