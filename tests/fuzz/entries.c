// SPDX-License-Identifier: BSD-2-Clause
/*
 * entries RUNS SEED FILE…   reads mutated entries of the cache, RUNS times
 *
 * An entry is made of each file's table; then it is damaged, cut and grown, and
 * mostly given a hash that fits what it has become, so that what reads it must do
 * without it; or its pages are, before they are packed anew. Whatever comes of it
 * must be refused, or have parts that lie in its pages and ranges that lie in its
 * file. The sanitizers see to the rest.
 */
#include "base/error.h"
#include "unwind/entry.h"
#include "unwind/pack.h"
#include "obj/elf_file.h"
#include "unwind/unwind_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEEDS_MAX 16
#define BYTES_MAX (256u << 10)
#define GROWN_MAX 64

struct seed {
	uint8_t *bytes;
	size_t n;
	union unwind_page *pages;
	uint32_t n_pages;
};

struct fuzz {
	struct seed seeds[SEEDS_MAX];
	size_t n_seeds;
	int fd;
	uint64_t seed, state;
	struct hash name;
	struct entry entry;
	struct entry_reader reader;
	uint8_t bytes[BYTES_MAX + GROWN_MAX];
	unsigned long refused, half, whole;
};

static uint64_t draw(struct fuzz *fuzz, uint64_t below)
{
	fuzz->state ^= fuzz->state << 13;
	fuzz->state ^= fuzz->state >> 7;
	fuzz->state ^= fuzz->state << 17;
	return below ? fuzz->state % below : fuzz->state;
}

static void must(const struct fuzz *fuzz, bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: seed %lu: not %s\n", fuzz->seed, what);
	abort();
}

/* 0: it is too large. */
static size_t pack_seed(struct fuzz *fuzz, const struct seed *seed, uint8_t *out,
			size_t max)
{
	AUTO(packer) packer = NULL;
	const struct str *packed;

	must(fuzz, !packer_new(&packer, seed->n_pages, max), "enough memory");
	packer_add(packer, seed->pages, seed->n_pages);
	packed = packer_end(packer);
	if (!packed)
		return 0;
	memcpy(out, packed->s, packed->n);
	return packed->n;
}

static int copy_pages(const struct unwind_table *table, struct seed *seed)
{
	seed->n_pages = unwind_table_head(table)->n_pages;
	seed->pages = calloc(seed->n_pages, sizeof(*seed->pages));
	for (uint32_t i = 0; seed->pages && i < seed->n_pages; i++)
		unwind_table_page(table, i, &seed->pages[i]);
	return seed->pages ? 0 : -ENOMEM;
}

static int write_seed(struct fuzz *fuzz, const struct unwind_table *table,
		      const struct range_recorder *recorder, struct seed *seed)
{
	AUTO(outfile) out = NULL;
	struct str packed = { .s = (char *)fuzz->bytes };
	char path[64];
	int err = copy_pages(table, seed);

	if (err)
		return err;
	packed.n = pack_seed(fuzz, seed, fuzz->bytes, BYTES_MAX);
	fuzz->entry = (struct entry){ 0 };
	fuzz->entry.head.name = fuzz->name;
	fuzz->entry.head.n_pages = seed->n_pages;
	fuzz->entry.head.stats = *unwind_table_stats(table);
	fuzz->entry.byte_ranges = recorder->list;
	snprintf(path, sizeof(path), "/tmp/weft-fuzz-entry.%d", (int)getpid());
	err = outfile_new(&out, path);
	if (!err)
		err = entry_write(out, &fuzz->entry, &packed);
	if (!err)
		err = outfile_finish(out);
	return err;
}

/* The bytes of an entry for this file's table. */
static void add_seed(struct fuzz *fuzz, const char *file)
{
	static struct range_recorder recorder;
	AUTO(unwind_table) table = NULL;
	AUTO_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct seed *seed = &fuzz->seeds[fuzz->n_seeds];
	char path[64];
	FILE *f;

	if (fd < 0 || fuzz->n_seeds == SEEDS_MAX ||
	    unwind_table_build(fd, &recorder, &table) ||
	    write_seed(fuzz, table, &recorder, seed))
		return;
	snprintf(path, sizeof(path), "/tmp/weft-fuzz-entry.%d", (int)getpid());
	f = fopen(path, "re");
	seed->bytes = malloc(BYTES_MAX);
	seed->n = f && seed->bytes ? fread(seed->bytes, 1, BYTES_MAX, f) : 0;
	fuzz->n_seeds += seed->n && seed->n < BYTES_MAX;
	if (f)
		fclose(f);
	unlink(path);
}

static void mutate_once(struct fuzz *fuzz, size_t *n)
{
	/* half of them where lengths are: in the first part */
	size_t at = draw(fuzz, draw(fuzz, 2) && *n > 400 ? 400 : *n);
	uint64_t word = draw(fuzz, 3) ? draw(fuzz, 64) : draw(fuzz, 0);

	switch (draw(fuzz, 6)) {
	case 0:
		fuzz->bytes[at] ^= (uint8_t)(1u << draw(fuzz, 8));
		break;
	case 1:
		fuzz->bytes[at] = (uint8_t)draw(fuzz, 256);
		break;
	case 2:
		at &= ~(size_t)3;
		if (*n - at >= 4)
			memcpy(fuzz->bytes + at, &word, 4);
		break;
	case 3:
		at &= ~(size_t)7;
		if (*n - at >= 8)
			memcpy(fuzz->bytes + at, &word, 8);
		break;
	case 4:
		if (!draw(fuzz, 8))
			*n = at + 1;
		break;
	case 5:
		if (!draw(fuzz, 8) && *n <= BYTES_MAX)
			*n += draw(fuzz, GROWN_MAX);
		break;
	}
}

/* A hash that fits, and the length of what lies behind it, mostly. */
static void seal(struct fuzz *fuzz, size_t n)
{
	struct entry *entry = (struct entry *)fuzz->bytes;
	size_t first, second;
	struct hash hash;

	if (n < offsetof(struct entry, byte_ranges) + byte_ranges_size(0) ||
	    entry->byte_ranges.n > BYTE_RANGES_MAX)
		return;
	first = offsetof(struct entry, byte_ranges) +
		byte_ranges_size(entry->byte_ranges.n);
	if (n < first + sizeof(hash))
		return;
	second = n - first - sizeof(hash);
	if (draw(fuzz, 16))
		entry->head.packed_bytes = second;
	hash_of(fuzz->bytes, first, &hash);
	memcpy(fuzz->bytes + first, &hash, sizeof(hash));
}

/* Its second part made of pages that differ, mostly in what the head page says. */
static void repack(struct fuzz *fuzz, const struct seed *from, size_t *n)
{
	struct entry *entry = (struct entry *)fuzz->bytes;
	size_t first = offsetof(struct entry, byte_ranges) +
		       byte_ranges_size(entry->byte_ranges.n);
	size_t at = first + sizeof(struct hash), i;
	uint8_t *changed, before;
	size_t packed;

	i = draw(fuzz, 4) ? draw(fuzz, sizeof(struct unwind_head))
			  : draw(fuzz, from->n_pages * sizeof(*from->pages));
	changed = (uint8_t *)from->pages + i;
	before = *changed;
	*changed = (uint8_t)draw(fuzz, 256);
	packed = pack_seed(fuzz, from, fuzz->bytes + at, BYTES_MAX - at);
	*changed = before;
	if (packed)
		*n = at + packed;
}

static void read_entry(struct fuzz *fuzz, size_t n)
{
	const union unwind_page *pages;
	struct entry *entry = &fuzz->entry;
	int err = entry_read_head(fuzz->fd, n, &fuzz->name, entry);

	must(fuzz, !err || err == -EBADMSG, "an expected error");
	fuzz->refused += err != 0;
	if (err)
		return;
	for (uint32_t i = 0; i < entry->byte_ranges.n; i++)
		must(fuzz,
		     entry->byte_ranges.ranges[i].offset +
				     entry->byte_ranges.ranges[i].bytes <=
			     entry->byte_ranges.file_bytes,
		     "a range of the file");
	err = entry_read_pages(&fuzz->reader, fuzz->fd, entry, &pages);
	must(fuzz, !err || err == -EBADMSG, "an expected error");
	fuzz->half += err != 0;
	if (err)
		return;
	must(fuzz, unwind_head_holds(&pages[0].head, entry->head.n_pages), "a table");
	fuzz->whole++;
}

static void run(struct fuzz *fuzz, uint64_t seed)
{
	const struct seed *from;
	size_t n, times;

	fuzz->seed = seed;
	fuzz->state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (int i = 0; i < 4; i++)
		draw(fuzz, 0);
	from = &fuzz->seeds[draw(fuzz, fuzz->n_seeds)];
	n = from->n;
	memcpy(fuzz->bytes, from->bytes, n);
	memset(fuzz->bytes + n, 0, GROWN_MAX);
	if (!draw(fuzz, 8))
		repack(fuzz, from, &n);
	times = draw(fuzz, 5);
	for (size_t i = 0; i < times; i++)
		mutate_once(fuzz, &n);
	if (draw(fuzz, 8))
		seal(fuzz, n);
	must(fuzz, pwrite(fuzz->fd, fuzz->bytes, n, 0) == (ssize_t)n, "written");
	must(fuzz, !ftruncate(fuzz->fd, (off_t)n), "cut");
	read_entry(fuzz, n);
	error_clear();
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	static struct fuzz fuzz;
	bool good;

	fuzz.fd = memfd_create("weft-fuzz", MFD_CLOEXEC);
	for (int i = 3; i < argc; i++)
		add_seed(&fuzz, argv[i]);
	if (!fuzz.n_seeds || fuzz.fd < 0) {
		fprintf(stderr, "usage: entries RUNS SEED FILE…\n");
		return 2;
	}
	for (unsigned long i = 0; i < runs; i++)
		run(&fuzz, seed + i);
	printf("# %lu runs over %zu entries: %lu refused, %lu at their pages, %lu read\n",
	       runs, fuzz.n_seeds, fuzz.refused, fuzz.half, fuzz.whole);
	/* a mutation that corrupts everything, or nothing, would find nothing */
	good = fuzz.whole > runs / 10 && fuzz.half > runs / 100 &&
	       fuzz.refused > runs / 10;
	printf("%sok 1 - reads mutated entries of the cache\n1..1\n", good ? "" : "not ");
	entry_reader_free(&fuzz.reader);
	for (size_t i = 0; i < fuzz.n_seeds; i++) {
		free(fuzz.seeds[i].bytes);
		free(fuzz.seeds[i].pages);
	}
	return good ? 0 : 1;
}
