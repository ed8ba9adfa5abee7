/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of an unwind table in fewer bytes: one zstd frame with a checksum, made while
 * they come. It knows nothing of what a page means: whatever it held comes back, or
 * nothing.
 */
#ifndef WEFT_UNWIND_PACK_H
#define WEFT_UNWIND_PACK_H

#include "base/cleanup.h"
#include "base/str.h"
#include "shared/unwind.h"

#include <stddef.h>
#include <stdint.h>

struct packer;

/* For n_pages pages that become at most max bytes; 0 or -ENOMEM. */
int packer_new(struct packer **ret, uint32_t n_pages, size_t max);
void packer_free(struct packer *packer); /* NULL is fine */
DEFINE_FREEP(packer)

/* What fails here is told at the end. */
void packer_add(struct packer *packer, const union unwind_page *pages, uint32_t n);

/* Their frame, which belongs to the packer; NULL: it did not become one. */
const struct str *packer_end(struct packer *packer);

/* What unpacking takes, kept for the next table: fresh memory costs as much as to fill
 * it. */
struct unpacker { /* {0}: nothing yet */
	struct ZSTD_DCtx_s *zstd;
	union unwind_page *pages;
	uint32_t n_pages; /* that there is room for */
};

void unpacker_free(struct unpacker *unpacker); /* is {0} then */

/* The pages of a frame of n bytes that anybody may have written; the unpacker's until it
 * unpacks the next ones. 0, -ENOMEM, or -EBADMSG: it is no frame of n_pages pages. */
int unpack_pages(struct unpacker *unpacker, const void *bytes, size_t n, uint32_t n_pages,
		 const union unwind_page **ret);

#endif
