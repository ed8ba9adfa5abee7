// SPDX-License-Identifier: BSD-2-Clause
/*
 * cfi RUNS SEED FILE…   reads mutated call frame information, RUNS times
 *
 * The sections of the files are cut, damaged, doubled and mixed, on both machines,
 * with and without section headers, packed or not. Whatever comes of it must end
 * soon, with rows in order, rules that are whole, and a table that keeps to
 * shared/unwind.h. The sanitizers see to the rest; a run is repeated by its seed.
 */
#include "sections.h"

#include "../cfi/image.h"
#include "base/error.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TABLE_EVERY 128 /* runs that also build a table */
#define TIMED_EVERY 8
#define SMALL_BYTES 512

struct fuzz {
	const struct sections *sections;
	struct section_file file; /* what is read */
	uint64_t seed;		  /* of the run */
	uint64_t state;
	uint64_t last_pc;
	bool any;
	unsigned long read, refused, rows, tables;
	double longest;
};

static uint64_t draw(struct fuzz *fuzz, uint64_t below)
{
	fuzz->state ^= fuzz->state << 13;
	fuzz->state ^= fuzz->state >> 7;
	fuzz->state ^= fuzz->state << 17;
	return below ? fuzz->state % below : 0;
}

static void must(const struct fuzz *fuzz, bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: seed %lu: not %s\n", fuzz->seed, what);
	abort();
}

/* Bytes that mean most: ends of numbers, large lengths, instructions. */
static uint8_t draw_byte(struct fuzz *fuzz)
{
	static const uint8_t telling[] = {
		0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x04, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		0x0f, 0x10, 0x16, 0x2d, 0x2e, 0x2f, 0x40, 0x41, 0x90, 0xc6, 0x1b, 0x9b
	};

	return draw(fuzz, 2) ? telling[draw(fuzz, sizeof(telling))]
			     : (uint8_t)draw(fuzz, 256);
}

static void mutate_once(struct fuzz *fuzz, uint8_t *bytes, size_t *n)
{
	size_t at = draw(fuzz, *n), from = draw(fuzz, *n), some = draw(fuzz, 32);
	uint32_t word = (uint32_t)draw(fuzz, 0) ^ (uint32_t)fuzz->state;

	switch (draw(fuzz, 7)) {
	case 0:
		bytes[at] ^= (uint8_t)(1u << draw(fuzz, 8));
		break;
	case 1:
	case 2:
		bytes[at] = draw_byte(fuzz);
		break;
	case 3: /* a length, a pointer */
		at &= ~(size_t)3;
		word = draw(fuzz, 3) ? word % 64 : word;
		if (*n - at >= sizeof(word))
			memcpy(bytes + at, &word, sizeof(word));
		break;
	case 4: /* something from elsewhere */
		if (some > *n - at)
			some = *n - at;
		if (some > *n - from)
			some = *n - from;
		memmove(bytes + at, bytes + from, some);
		break;
	case 5: /* pushes the rest */
		if (*n + some <= SECTION_BYTES_MAX) {
			memmove(bytes + at + some, bytes + at, *n - at);
			*n += some;
		}
		break;
	case 6:
		if (!draw(fuzz, 8))
			*n = at + 1;
		break;
	}
}

static void make_file(struct fuzz *fuzz)
{
	const struct section *base =
		&fuzz->sections->items[draw(fuzz, fuzz->sections->n)];
	struct section_shape shape = {
		.arm64 = draw(fuzz, 8) ? base->arm64 : !base->arm64,
		.debug = draw(fuzz, 16) ? base->debug : !base->debug,
		.headers = draw(fuzz, 4) != 0,
		.packed = draw(fuzz, 16) == 0,
		.bolt = draw(fuzz, 4) == 0,
		.vaddr = base->vaddr,
	};
	uint8_t *bytes = fuzz->file.section;
	size_t n = base->n, times = draw(fuzz, 8);

	/* mostly small, since a mutation is as telling there */
	if (n > SMALL_BYTES)
		n = SMALL_BYTES / 4 + draw(fuzz, draw(fuzz, 16) ? SMALL_BYTES : n);
	if (n > base->n)
		n = base->n;
	memcpy(bytes, base->bytes, n);
	for (size_t i = 0; i < times; i++)
		mutate_once(fuzz, bytes, &n);
	section_file_write(&fuzz->file, &shape, n);
}

static void check_rule(const struct fuzz *fuzz, const struct unwind_rule *rule)
{
	bool framed = rule->cfa >= UNWIND_CFA_SP && rule->cfa <= UNWIND_CFA_PLT;

	must(fuzz, rule->cfa < N_UNWIND_CFAS, "a kind of CFA");
	must(fuzz, rule->fp <= UNWIND_FP_LOST, "a place of fp");
	must(fuzz, rule->ra <= UNWIND_RA_REG, "a place of ra");
	must(fuzz, framed || !(rule->cfa_offset | rule->fp | rule->ra | rule->ra_words),
	     "empty without a frame");
	must(fuzz, rule->cfa != UNWIND_CFA_PLT || rule->reg < 16, "a step of 16 bytes");
}

static int on_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct fuzz *fuzz = arg;

	must(fuzz, !fuzz->any || pc > fuzz->last_pc, "in order");
	check_rule(fuzz, rule);
	fuzz->last_pc = pc;
	fuzz->any = true;
	fuzz->rows++;
	return 0;
}

static bool is_expected(int err)
{
	return !err || err == -ENOEXEC || err == -EBADMSG || err == -E2BIG ||
	       err == -ENODATA;
}

static void read_rows(struct fuzz *fuzz)
{
	const struct cfi_sink sink = { .arg = fuzz, .row = on_row };
	AUTO_ELF file = { 0 };
	struct cfi_stats stats;
	int err = elf_file_open(&file, SECTION_FD);

	fuzz->any = false;
	if (!err)
		err = cfi_read(&file, &sink, &stats);
	must(fuzz, is_expected(err), "an expected error");
	fuzz->read += !err;
	fuzz->refused += err != 0;
}

static void build_table(struct fuzz *fuzz)
{
	AUTO(unwind_table) table = NULL;
	struct image image = { 0 };
	int err = unwind_table_build(SECTION_FD, NULL, &table);

	must(fuzz, is_expected(err), "an expected error");
	if (err)
		return;
	must(fuzz, image_load(&image, table), "a table");
	image_free(&image);
	fuzz->tables++;
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void run(struct fuzz *fuzz, uint64_t seed)
{
	bool timed = seed % TIMED_EVERY == 0; /* it is a system call */
	double begun = timed ? now() : 0, took;

	fuzz->seed = seed;
	fuzz->state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (int i = 0; i < 4; i++)
		draw(fuzz, 0);
	make_file(fuzz);
	read_rows(fuzz);
	if (seed % TABLE_EVERY == 0)
		build_table(fuzz);
	took = timed ? now() - begun : 0;
	if (took > fuzz->longest)
		fuzz->longest = took;
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct sections sections = { 0 };
	struct fuzz fuzz = { .sections = &sections };

	for (int i = 3; i < argc; i++)
		sections_add(&sections, argv[i]);
	if (!sections.n || section_file_open(&fuzz.file)) {
		fprintf(stderr, "usage: cfi RUNS SEED FILE…\n");
		return 2;
	}
	for (unsigned long i = 0; i < runs; i++)
		run(&fuzz, seed + i);
	printf("# %lu runs over %zu sections: %lu read, %lu refused, %lu rows, %lu "
	       "tables, the longest %.1f ms\n",
	       runs, sections.n, fuzz.read, fuzz.refused, fuzz.rows, fuzz.tables,
	       fuzz.longest * 1e3);
	sections_free(&sections);
	section_file_close(&fuzz.file);
	/* a mutation that corrupts everything would find nothing */
	printf("%sok 1 - reads mutated call frame information\n1..1\n",
	       fuzz.rows > runs && fuzz.tables ? "" : "not ");
	return fuzz.rows > runs && fuzz.tables ? 0 : 1;
}
