/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages become a frame and come back from it, and what somebody else wrote in its
 * place is refused before it takes memory.
 */
#include "base/error.h"
#include "unwind/pack.h"

#include "elf_files.h"

#include <errno.h>
#include <zstd.h>

#define PAGES	  300
#define FRAME_MAX (PAGES * UNWIND_PAGE_BYTES + 4096)

static union unwind_page pages[PAGES];
static uint8_t frame[2 * FRAME_MAX];

static int make_pages(void **state)
{
	uint32_t number = 1;

	for (size_t i = 0; i < sizeof(pages); i++) {
		number = number * 1664525 + 1013904223;
		pages[i / UNWIND_PAGE_BYTES].bytes[i % UNWIND_PAGE_BYTES] =
			(uint8_t)(number >> 24 & (i / 8192 % 2 ? 0xff : 3));
	}
	return 0;
}

/* The size of n_pages pages that came `step` at a time, as frame; 0: it was refused. */
static size_t pack(uint32_t said, uint32_t n_pages, uint32_t step, size_t max)
{
	AUTO(packer) packer = NULL;
	const struct str *packed;
	size_t n = 0;

	assert_int_equal(packer_new(&packer, said, max), 0);
	for (uint32_t at = 0; at < n_pages; at += step)
		packer_add(packer, pages + at, n_pages - at < step ? n_pages - at : step);
	packed = packer_end(packer);
	if (packed) {
		n = packed->n;
		assert_true(n && n <= FRAME_MAX);
		memcpy(frame, packed->s, n);
	}
	return n;
}

static int unpack(size_t n, uint32_t n_pages)
{
	const union unwind_page *out = NULL;
	struct unpacker unpacker = { 0 };
	int err = unpack_pages(&unpacker, frame, n, n_pages, &out);

	if (err)
		assert_null(out);
	else
		assert_memory_equal(out, pages, n_pages * sizeof(*out));
	unpacker_free(&unpacker);
	error_clear();
	return err;
}

static void comes_back(void **state)
{
	const uint32_t sizes[] = { 1, 2, 63, 64, 65, PAGES };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (uint32_t step = 1; step <= 64; step *= 8) {
			size_t n = pack(sizes[i], sizes[i], step, FRAME_MAX);

			assert_true(n);
			assert_int_equal(unpack(n, sizes[i]), 0);
		}
}

/* One unpacker, tables of all sizes, and what is none between them. */
static void takes_room_once(void **state)
{
	const uint32_t sizes[] = { 2, PAGES, 1, 64, PAGES };
	struct unpacker unpacker = { 0 };
	const union unwind_page *out, *room = NULL;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = pack(sizes[i], sizes[i], 64, FRAME_MAX);

		assert_int_equal(unpack_pages(&unpacker, frame, n, sizes[i], &out), 0);
		assert_memory_equal(out, pages, sizes[i] * sizeof(*out));
		assert_true(i < 2 || out == room);
		room = out;
		assert_int_equal(unpack_pages(&unpacker, frame, n - 1, sizes[i], &out),
				 -EBADMSG);
		error_clear();
	}
	unpacker_free(&unpacker);
}

static void keeps_to_what_was_said(void **state)
{
	size_t n = pack(PAGES, PAGES, 64, FRAME_MAX);

	assert_true(n > UNWIND_PAGE_BYTES && n < sizeof(pages));
	assert_int_equal(pack(PAGES, PAGES, 64, n), n);
	assert_int_equal(pack(PAGES, PAGES, 64, n - 1), 0);
	assert_int_equal(pack(PAGES, PAGES, 64, 0), 0);
	assert_int_equal(pack(PAGES, PAGES - 1, 64, FRAME_MAX), 0);
	assert_int_equal(pack(PAGES - 1, PAGES, 64, FRAME_MAX), 0);
	assert_int_equal(pack(PAGES, 0, 64, FRAME_MAX), 0);
}

static void takes_no_other_size(void **state)
{
	size_t n = pack(3, 3, 3, FRAME_MAX);
	const uint32_t others[] = { 0, 1, 2, 4, 32 << 10, UINT32_MAX };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(unpack(n, others[i]), -EBADMSG);
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(unpack(cut, 3), -EBADMSG);
	assert_int_equal(unpack(n + 1, 3), -EBADMSG);
	assert_int_equal(unpack(n, 3), 0);
}

/* Frames of zstd's that no packer makes. */
static void takes_no_other_frame(void **state)
{
	const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
	size_t n = pack(2, 2, 2, FRAME_MAX), more;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	memmove(frame + n, frame, n); /* two, of which zstd would make four pages */
	assert_int_equal(unpack(2 * n, 4), -EBADMSG);
	assert_int_equal(unpack(2 * n, 2), -EBADMSG);
	memcpy(frame + n, skippable, sizeof(skippable));
	assert_int_equal(unpack(n + sizeof(skippable), 2), -EBADMSG);
	memcpy(frame, skippable, sizeof(skippable));
	assert_int_equal(unpack(sizeof(skippable), 2), -EBADMSG);

	assert_int_equal(ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 0), 0);
	more = ZSTD_compress2(zstd, frame, sizeof(frame), pages, 2 * sizeof(*pages));
	assert_false(ZSTD_isError(more));
	assert_int_equal(unpack(more, 2), -EBADMSG);
	ZSTD_freeCCtx(zstd);
}

/* Whatever a byte becomes: refused, or the same table. */
static void survives_each_byte(void **state)
{
	size_t n = pack(2, 2, 2, FRAME_MAX);
	unsigned int refused = 0;
	struct unpacker unpacker = { 0 };

	for (size_t at = 0; at < n; at++)
		for (int bit = 0; bit < 8; bit++) {
			const union unwind_page *out;
			int err;

			frame[at] ^= (uint8_t)(1u << bit);
			err = unpack_pages(&unpacker, frame, n, 2, &out);
			refused += err == -EBADMSG;
			if (!err)
				assert_memory_equal(out, pages, 2 * sizeof(*out));
			error_clear();
			frame[at] ^= (uint8_t)(1u << bit);
		}
	unpacker_free(&unpacker);
	assert_true(refused > 8 * 4);
	assert_int_equal(unpack(n, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(takes_room_once),
		cmocka_unit_test(keeps_to_what_was_said),
		cmocka_unit_test(takes_no_other_size),
		cmocka_unit_test(takes_no_other_frame),
		cmocka_unit_test(survives_each_byte),
	};

	return cmocka_run_group_tests(tests, make_pages, NULL);
}
