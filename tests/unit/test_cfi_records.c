/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common and individual entries: where they are found, how they are told apart,
 * what they say of addresses; and lies of each kind.
 */
#include "cfi_made.h"

#include <errno.h>

static struct made made;
static struct rows rows;

static void begin(void)
{
	memset(&made, 0, sizeof(made));
}

/* One function at CODE of n bytes, by its row and its end. */
static void expect_one(uint32_t at, uint32_t n)
{
	rows_read(&rows, &made);
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.stats.n_fdes, 1);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.items[0].pc, at);
	assert_int_equal(rows.items[0].rule.cfa, UNWIND_CFA_SP);
	assert_int_equal(rows.items[1].pc, at + n);
	assert_int_equal(rows.items[1].rule.cfa, UNWIND_CFA_NONE);
}

static void expect_bad(uint32_t bad)
{
	rows_read(&rows, &made);
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.stats.bad, bad);
	assert_int_equal(rows.n, 0);
}

static void reads_plain_ones(void **state)
{
	begin();
	put_plain_cie(&made);
	put_fde(&made, CODE + 16, 32, "", 0);
	expect_one(CODE + 16, 32);
	made.bare = true;
	put32(&made, 0); /* without headers its end is a zero */
	put_fde(&made, CODE + 64, 32, "", 0);
	expect_one(CODE + 16, 32);
}

static void reads_debug_frame(void **state)
{
	begin();
	made.debug = true;
	put_plain_cie(&made);
	put_fde(&made, CODE + 16, 32, "", 0);
	expect_one(CODE + 16, 32);
	assert_int_equal(rows.stats.n_debug, 1);
}

static void goes_on_behind_zeroes(void **state)
{
	begin();
	put_plain_cie(&made);
	put32(&made, 0);
	put32(&made, 0);
	put_fde(&made, CODE, 32, "", 0);
	expect_one(CODE, 32);
}

static void reads_long_lengths(void **state)
{
	begin();
	put_plain_cie(&made);
	put32(&made, UINT32_MAX);
	put64(&made, 8 + 4 + 4 + 1);
	put64(&made, made.n - made.cie);
	put32(&made, CODE - (FRAME + (uint32_t)made.n));
	put32(&made, 64);
	put8(&made, 0);
	expect_one(CODE, 64);
}

struct encoding {
	uint8_t encoding;
	size_t bytes;
	bool relative; /* to its own place */
};

/* Those that linkers and compilers use, and those that they could. */
static void reads_pointers(void **state)
{
	static const struct encoding encodings[] = {
		{ 0x00, 8, false }, { 0x04, 8, false }, { 0x0c, 8, false },
		{ 0x03, 4, false }, { 0x0b, 4, false }, { 0x1b, 4, true },
		{ 0x13, 4, true },  { 0x10, 8, true },	{ 0x1c, 8, true },
	};

	for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++) {
		const struct encoding *now = &encodings[i];
		uint64_t value = CODE, n = 32;

		begin();
		put_cie(&made, "zR", &now->encoding, 1);
		begin_fde(&made);
		if (now->relative)
			value -= FRAME + made.n;
		put(&made, &value, now->bytes);
		put(&made, &n, now->bytes);
		put8(&made, 0);
		end_record(&made);
		expect_one(CODE, 32);
	}
}

static void reads_leb_pointers(void **state)
{
	static const uint8_t encodings[] = { 0x01, 0x09 };

	for (size_t i = 0; i < 2; i++) {
		begin();
		put_cie(&made, "zR", &encodings[i], 1);
		begin_fde(&made);
		put(&made, "\x80\x80\xc0\x00\x20", 5); /* CODE and 32, signed, too */
		put8(&made, 0);
		end_record(&made);
		expect_one(CODE, 32);
	}
}

/* DW_EH_PE_aligned: the next multiple of 8, then a whole address. */
static void reads_aligned_pointers(void **state)
{
	static const uint8_t aligned[] = { 0x50 };

	begin();
	put_cie(&made, "zR", aligned, 1);
	begin_fde(&made);
	while (made.n % 8)
		put8(&made, 0xee);
	put64(&made, CODE);
	put64(&made, 32);
	put8(&made, 0);
	end_record(&made);
	expect_one(CODE, 32);
}

static void refuses_other_pointers(void **state)
{
	static const uint8_t encodings[] = { 0xff, 0x9b, 0x2b, 0x4b, 0x05, 0x0f, 0x7b };

	for (size_t i = 0; i < sizeof(encodings); i++) {
		begin();
		put_cie(&made, "zR", &encodings[i], 1);
		put_fde(&made, CODE, 32, "", 0);
		expect_bad(1);
	}
}

/* pcrel sdata4 in each; a personality of 4 and of 8 bytes before it. */
static void reads_augmentations(void **state)
{
	static const struct {
		const char *letters;
		uint8_t data[16];
		size_t n;
	} cases[] = {
		{ "zR", { 0x1b }, 1 },
		{ "zPLR", { 0x9b, 1, 2, 3, 4, 0x1b, 0x1b }, 7 },
		{ "zPLR", { 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x1b }, 11 },
		{ "zRS", { 0x1b }, 1 },
		{ "zRB", { 0x1b }, 1 },
		{ "zRG", { 0x1b }, 1 },
		{ "zR", { 0x1b, 7, 7, 7 }, 4 }, /* more than its letters need */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin();
		put_cie(&made, cases[i].letters, cases[i].data, cases[i].n);
		put_fde(&made, CODE, 32, "", 0);
		expect_one(CODE, 32);
	}
}

static void refuses_augmentations(void **state)
{
	static const uint8_t data[] = { 0x1b, 0x1b, 0x1b, 0x1b };

	begin();
	put_cie(&made, "zRX", data, 4); /* of unknown meaning */
	put_fde(&made, CODE, 32, "", 0);
	expect_bad(1);
	begin();
	put_cie(&made, "zPR", data, 1); /* cut */
	put_fde(&made, CODE, 32, "", 0);
	expect_bad(1);
	begin();
	put_cie(&made, "armcc+", data, 0);
	put_fde(&made, CODE, 32, "", 0);
	expect_bad(1);
	begin();
	put_cie(&made, "zRRRRRRRRRRRRRRRRRR", data, 4);
	put_fde(&made, CODE, 32, "", 0);
	expect_bad(1);
}

static void refuses_versions(void **state)
{
	for (int version = 0; version < 256; version++) {
		begin();
		put_plain_cie(&made);
		made.bytes[8] = (uint8_t)version;
		put_fde(&made, CODE, 32, "", 0);
		rows_read(&rows, &made);
		/* 1 and 3 differ in how the return address's column is written; 4
		 * has two bytes more, which these are not */
		assert_int_equal(rows.stats.bad, version != 1 && version != 3);
	}
}

/* glibc's words for a frame that the kernel made. They are believed where the code
 * is a sigreturn: the augmentation's last bytes are taken for it here. */
static void knows_signal_frames(void **state)
{
	static const uint8_t data[] = { 0x1b, 0x90, 0x48, 0xc7, 0xc0, 0x0f,
					0,    0,    0,	  0x0f, 0x05 };
	static const uint8_t code[] = {
		0x0f, 4,  0x77, 0xa0, 0x01, 0x06, /* CFA = *(rsp + 160) */
		0x10, 16, 3,	0x77, 0xa8, 0x01, /* ra at rsp + 168 */
	};
	const uint32_t at = CODE + 4 + 4 + 1 + 4 + 3 + 1 + 1; /* behind 0x1b, "zRS" */

	for (int kind = 0; kind < 4; kind++) {
		bool is_signal = kind != 1, is_code = kind != 2, is_whole = kind != 3;

		begin();
		put_cie(&made, is_signal ? "zRS" : "zR", data, sizeof(data));
		put_fde(&made, is_code ? at - !is_signal : CODE, is_whole ? 10 : 9, code,
			sizeof(code));
		rows_read(&rows, &made);
		assert_int_equal(rows.items[0].rule.cfa,
				 kind == 0 ? UNWIND_CFA_SIGNAL : UNWIND_CFA_UNSUPPORTED);
	}
}

/* Compilers and authors of assembly say the same of a frame that another one's registers
 * lie in: who is interrupted or left there has not called. */
static void knows_who_leads(void **state)
{
	static const uint8_t data[] = { 0x1b };
	static const struct {
		uint8_t code[4];
		size_t n;
		enum unwind_cfa cfa;
	} cases[] = {
		{ { 0x0e, 16 }, 2, UNWIND_CFA_SP },
		{ { 0x0c, 6, 16 }, 3, UNWIND_CFA_FP },
		{ { 0x0c, 10, 16 }, 3, UNWIND_CFA_REG },
	};

	for (int i = 0; i < 6; i++) {
		bool is_signal = i & 1;

		begin();
		put_cie(&made, is_signal ? "zRS" : "zR", data, sizeof(data));
		put_fde(&made, CODE, 10, cases[i / 2].code, cases[i / 2].n);
		rows_read(&rows, &made);
		assert_int_equal(rows.items[0].rule.cfa, cases[i / 2].cfa);
		if (cases[i / 2].cfa == UNWIND_CFA_REG) /* which says the register */
			assert_int_equal(rows.items[0].rule.reg, 10);
		else
			assert_int_equal(rows.items[0].rule.reg,
					 is_signal ? UNWIND_LEADS : 0);
	}
}

/* Code that keeps another stack's pointer from its first instruction on was called by
 * nobody; if it does so later it was, and switched stacks. */
static void knows_who_was_resumed(void **state)
{
	static const uint8_t deref[] = { 0x0f, 4, 0x57, 0x06, 0x23, 0x38 };
	uint8_t later[1 + sizeof(deref)] = { 0x42 };

	memcpy(later + 1, deref, sizeof(deref));
	begin();
	put_plain_cie(&made);
	put_fde(&made, CODE, 10, deref, sizeof(deref));
	put_fde(&made, CODE + 16, 10, later, sizeof(later));
	rows_read(&rows, &made);
	assert_int_equal(rows.items[0].rule.cfa, UNWIND_CFA_DEREF_SP);
	assert_int_equal(rows.items[0].rule.reg, UNWIND_LEADS);
	assert_int_equal(rows.items[2].rule.cfa, UNWIND_CFA_SP);
	assert_int_equal(rows.items[3].rule.cfa, UNWIND_CFA_DEREF_SP);
	assert_int_equal(rows.items[3].rule.reg, 0);
}

/* Other factors than the usual 1 and -8. */
static void multiplies(void **state)
{
	static const uint8_t code[] = { 0x42, 0x86, 4 }; /* 2 on; fp at CFA + 4 * -4 */

	begin();
	put_plain_cie(&made);
	assert_memory_equal(made.bytes + 12, "\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01",
			    10);
	made.bytes[12] = 3;
	made.bytes[13] = 0x7c; /* -4 */
	made.bytes[21] = 2;    /* ra at CFA + 2 * -4 */
	put_fde(&made, CODE, 32, code, sizeof(code));
	rows_read(&rows, &made);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.items[0].rule.ra_words, -1);
	assert_int_equal(rows.items[1].pc, CODE + 6);
	assert_int_equal(rows.items[1].rule.ra_words, -1);
	assert_int_equal(rows.items[1].rule.fp, UNWIND_FP_CFA);
	assert_int_equal(rows.items[1].rule.fp_words, -2);
}

/* What a CIE says of a register holds until the FDE says otherwise, and again
 * once it is restored. */
static void restores_what_the_cie_said(void **state)
{
	static const uint8_t cie[] = { 0,  0, 0,    0,	  1, 'z', 'R',	0, 1,	 0x78,
				       16, 1, 0x1b, 0x0c, 7, 8,	  0x90, 1, 0x86, 2 };
	static const uint8_t code[] = { 0x41, 0x08, 6, 0x41, 0xc6 };

	begin();
	begin_record(&made);
	put(&made, cie, sizeof(cie));
	end_record(&made);
	put_fde(&made, CODE, 32, code, sizeof(code));
	rows_read(&rows, &made);
	assert_int_equal(rows.n, 4);
	assert_int_equal(rows.items[0].rule.fp_words, -2);
	assert_int_equal(rows.items[1].rule.fp, UNWIND_FP_SAME);
	assert_int_equal(rows.items[2].rule.fp, UNWIND_FP_CFA);
	assert_int_equal(rows.items[2].rule.fp_words, -2);
}

static void refuses_lost_cies(void **state)
{
	static const uint32_t pointers[] = { 0, 4, 0x1000, 0x7fffffff, 0xfffffff0, 2 };

	for (size_t i = 1; i < sizeof(pointers) / sizeof(*pointers); i++) {
		begin();
		put_plain_cie(&made);
		put_fde(&made, CODE, 32, "", 0);
		memcpy(made.bytes + made.record + 4, &pointers[i], 4);
		expect_bad(1);
	}
}

/* Whatever is cut, nothing beyond is read, and what was whole holds. */
static void survives_cuts(void **state)
{
	static struct made whole;

	begin();
	put_plain_cie(&made);
	for (uint32_t i = 0; i < 4; i++)
		put_fde(&made, CODE + 64 * i, 32, "\x41\x0e\x10\x86\x02", 5);
	whole = made;
	for (size_t n = whole.n; n-- > 0;) {
		made.n = n;
		rows_read(&rows, &made);
		assert_int_equal(rows.err, 0);
		assert_true(rows.stats.n_fdes < 4);
		assert_int_equal(rows.n, 3 * rows.stats.n_fdes);
	}
}

static void drops_what_is_no_code(void **state)
{
	begin();
	put_plain_cie(&made);
	put_fde(&made, 0, 32, "", 0);			 /* nowhere */
	put_fde(&made, FRAME, 32, "", 0);		 /* data */
	put_fde(&made, CODE, 0, "", 0);			 /* empty */
	put_fde(&made, CODE, CODE_BYTES + 1, "", 0);	 /* longer than its segment */
	put_fde(&made, CODE + CODE_BYTES - 8, 9, "", 0); /* the same by one byte */
	rows_read(&rows, &made);
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.stats.outside, 5);
	assert_int_equal(rows.n, 0);
}

/* A range that is negative, as an address of 64 bits. */
static void refuses_backward_ranges(void **state)
{
	begin();
	put_plain_cie(&made);
	put_fde(&made, CODE + 64, (uint32_t)-32, "", 0);
	expect_bad(1);
}

static void sorts(void **state)
{
	begin();
	put_plain_cie(&made);
	put_fde(&made, CODE + 64, 32, "", 0);
	put_fde(&made, CODE, 32, "", 0);
	put_fde(&made, CODE + 32, 32, "\x0e\x10", 2);
	rows_read(&rows, &made);
	assert_int_equal(rows.n, 4); /* no gaps between them */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rows.items[i].pc, CODE + 32 * i);
	assert_int_equal(rows.items[1].rule.cfa_offset, 16);
	assert_int_equal(rows.stats.overlaps, 0);
}

static void lets_the_first_win(void **state)
{
	begin();
	put_plain_cie(&made);
	put_fde(&made, CODE, 64, "", 0);
	put_fde(&made, CODE + 16, 16, "\x0e\x10", 2);	  /* within */
	put_fde(&made, CODE + 32, 64, "\x48\x0e\x18", 3); /* reaches out */
	put_fde(&made, CODE, 64, "\x0e\x20", 2);	  /* again */
	rows_read(&rows, &made);
	assert_int_equal(rows.stats.overlaps, 3);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.items[0].rule.cfa_offset, 8);
	assert_int_equal(rows.items[1].pc, CODE + 64);
	assert_int_equal(rows.items[1].rule.cfa_offset, 24);
	assert_int_equal(rows.items[2].pc, CODE + 96);
}

static void has_none(void **state)
{
	begin();
	expect_bad(0);
	put_plain_cie(&made);
	expect_bad(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_plain_ones),
		cmocka_unit_test(reads_debug_frame),
		cmocka_unit_test(goes_on_behind_zeroes),
		cmocka_unit_test(reads_long_lengths),
		cmocka_unit_test(reads_pointers),
		cmocka_unit_test(reads_leb_pointers),
		cmocka_unit_test(reads_aligned_pointers),
		cmocka_unit_test(refuses_other_pointers),
		cmocka_unit_test(reads_augmentations),
		cmocka_unit_test(refuses_augmentations),
		cmocka_unit_test(refuses_versions),
		cmocka_unit_test(knows_signal_frames),
		cmocka_unit_test(knows_who_leads),
		cmocka_unit_test(knows_who_was_resumed),
		cmocka_unit_test(multiplies),
		cmocka_unit_test(restores_what_the_cie_said),
		cmocka_unit_test(refuses_lost_cies),
		cmocka_unit_test(survives_cuts),
		cmocka_unit_test(drops_what_is_no_code),
		cmocka_unit_test(refuses_backward_ranges),
		cmocka_unit_test(sorts),
		cmocka_unit_test(lets_the_first_win),
		cmocka_unit_test(has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
