// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/pack.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL	     -1 /* docs/decisions/an-entry-is-one-file.md */
#define PACKED_BYTES (16 << 10)

struct packer {
	ZSTD_CCtx *zstd;
	struct str out;
	size_t max;
	uint32_t n_left; /* pages that are still to come */
	bool failed;
};

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	str_free(&packer->out);
	free(packer);
}

int packer_new(struct packer **ret, uint32_t n_pages, size_t max)
{
	AUTO(packer) packer = calloc(1, sizeof(*packer));
	unsigned long long bytes = (unsigned long long)n_pages * UNWIND_PAGE_BYTES;

	if (packer)
		packer->zstd = ZSTD_createCCtx();
	if (!packer || !packer->zstd)
		return fail(-ENOMEM, "no memory to pack an unwind table");
	packer->max = max;
	packer->n_left = n_pages;
	/* a size that is known makes small tables' memory small, and is in the frame */
	packer->failed = ZSTD_isError(ZSTD_CCtx_setParameter(
				 packer->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
			 ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd,
							     ZSTD_c_checksumFlag, 1)) ||
			 ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(packer->zstd, bytes));
	*ret = GIVE(packer);
	return 0;
}

/* One step on; how much is left to do, or an error of zstd's. */
static size_t advance(struct packer *packer, ZSTD_inBuffer *in, ZSTD_EndDirective what)
{
	char piece[PACKED_BYTES];
	ZSTD_outBuffer out = { piece, sizeof(piece), 0 };
	size_t left = ZSTD_compressStream2(packer->zstd, &out, in, what);

	str_add_bytes(&packer->out, piece, out.pos);
	packer->failed |= ZSTD_isError(left) || packer->out.n > packer->max;
	return left;
}

void packer_add(struct packer *packer, const union unwind_page *pages, uint32_t n)
{
	ZSTD_inBuffer in = { pages, n * sizeof(*pages), 0 };

	packer->failed |= n > packer->n_left;
	packer->n_left -= n;
	while (!packer->failed && in.pos < in.size)
		advance(packer, &in, ZSTD_e_continue);
}

const struct str *packer_end(struct packer *packer)
{
	ZSTD_inBuffer nothing = { NULL, 0, 0 };

	packer->failed |= packer->n_left != 0;
	while (!packer->failed && advance(packer, &nothing, ZSTD_e_end))
		;
	return packer->failed || str_error(&packer->out) ? NULL : &packer->out;
}

void unpacker_free(struct unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker->pages);
	*unpacker = (struct unpacker){ 0 };
}

static int make_room(struct unpacker *unpacker, uint32_t n_pages)
{
	union unwind_page *pages;

	if (!unpacker->zstd)
		unpacker->zstd = ZSTD_createDCtx();
	/* what there is of it need not be faulted in again */
	if (unpacker->n_pages < n_pages) {
		pages = realloc(unpacker->pages, (size_t)n_pages * UNWIND_PAGE_BYTES);
		unpacker->pages = pages ? pages : unpacker->pages;
		unpacker->n_pages = pages ? n_pages : unpacker->n_pages;
	}
	return unpacker->zstd && unpacker->n_pages >= n_pages
		       ? 0
		       : fail(-ENOMEM, "no memory for an unwind table");
}

int unpack_pages(struct unpacker *unpacker, const void *bytes, size_t n, uint32_t n_pages,
		 const union unwind_page **ret)
{
	size_t expected = (size_t)n_pages * UNWIND_PAGE_BYTES;
	int err;

	/* first what it says of itself, so that memory is taken for a frame alone */
	if (!n_pages || ZSTD_getFrameContentSize(bytes, n) != expected ||
	    ZSTD_findFrameCompressedSize(bytes, n) != n)
		return fail(-EBADMSG, "no packed table of %u pages", n_pages);
	err = make_room(unpacker, n_pages);
	if (err)
		return err;
	if (ZSTD_decompressDCtx(unpacker->zstd, unpacker->pages, expected, bytes, n) !=
	    expected)
		return fail(-EBADMSG, "a packed table can't be unpacked");
	*ret = unpacker->pages;
	return 0;
}
