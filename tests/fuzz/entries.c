// SPDX-License-Identifier: BSD-2-Clause
/*
 * entries RUNS SEED FILE…   reads mutated entries of the cache, RUNS times
 *
 * An entry is made of each file's table; then it is damaged, cut and grown, and
 * mostly given a hash that fits what it has become, so that what reads it must do
 * without it; or its pages are, before they are summed up anew. Whatever comes of it
 * must be refused, or have parts that lie in its pages and ranges that lie in its
 * file. The sanitizers see to the rest.
 */
#include "base/error.h"
#include "unwind/entry.h"
#include "obj/elf_file.h"
#include "unwind/unwind_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	union unwind_page room[ENTRY_PAGES_AT_ONCE];
	uint32_t n_came;
	_Alignas(struct entry) uint8_t bytes[BYTES_MAX + GROWN_MAX];
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

static int copy_pages(const struct unwind_table *table, struct seed *seed)
{
	seed->n_pages = unwind_table_head(table)->n_pages;
	seed->pages = calloc(seed->n_pages, sizeof(*seed->pages));
	for (uint32_t i = 0; seed->pages && i < seed->n_pages; i++)
		unwind_table_page(table, i, &seed->pages[i]);
	return seed->pages ? 0 : -ENOMEM;
}

/* The bytes of the entry of these pages; 0: they are too many. */
static size_t write_entry(struct fuzz *fuzz, const struct seed *seed, uint8_t *out)
{
	struct entry_writer writer = { 0 };
	AUTO(outfile) file = NULL;
	struct stat st;
	int fd;

	must(fuzz, !outfile_new_memory(&file, &fd), "enough memory");
	writer.out = file;
	must(fuzz, !entry_write_pages(&writer, seed->pages, seed->n_pages), "written");
	must(fuzz, !entry_write_head(&writer, &fuzz->entry), "written");
	must(fuzz, !fstat(fd, &st), "there");
	if (st.st_size >= BYTES_MAX)
		return 0;
	must(fuzz, pread(fd, out, BYTES_MAX, 0) == st.st_size, "read");
	return (size_t)st.st_size;
}

/* An entry for this file's table. */
static void add_seed(struct fuzz *fuzz, const char *file)
{
	static struct range_recorder recorder;
	AUTO(unwind_table) table = NULL;
	AUTO_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct seed *seed = &fuzz->seeds[fuzz->n_seeds];

	if (fd < 0 || fuzz->n_seeds == SEEDS_MAX ||
	    unwind_table_build(fd, &recorder, &table) || copy_pages(table, seed))
		return;
	fuzz->entry = (struct entry){ 0 };
	fuzz->entry.head.name = fuzz->name;
	fuzz->entry.head.stats = *unwind_table_stats(table);
	fuzz->entry.byte_ranges = recorder.list;
	seed->bytes = malloc(BYTES_MAX);
	seed->n = seed->bytes ? write_entry(fuzz, seed, seed->bytes) : 0;
	fuzz->n_seeds += seed->n > 0;
}

/* Half of them where lengths are: where its head begins, and at its end. */
static size_t draw_place(struct fuzz *fuzz, size_t head, size_t n)
{
	uint64_t where = draw(fuzz, 8);
	size_t at = where < 3 ? head + draw(fuzz, 400) : n - 1 - draw(fuzz, 8);

	return where < 4 && at < n ? at : draw(fuzz, n);
}

static void mutate_once(struct fuzz *fuzz, size_t head, size_t *n)
{
	size_t at = draw_place(fuzz, head, *n);
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

/* Its head, if it has one: behind as many pages as its last word says. */
static struct entry *head_of(struct fuzz *fuzz, size_t n, size_t *ret_room)
{
	uint64_t n_pages;

	if (n < sizeof(n_pages) + sizeof(struct entry_head))
		return NULL;
	memcpy(&n_pages, fuzz->bytes + n - sizeof(n_pages), sizeof(n_pages));
	if (n_pages > BYTES_MAX / UNWIND_PAGE_BYTES || n_pages * UNWIND_PAGE_BYTES >= n)
		return NULL;
	*ret_room = n - n_pages * UNWIND_PAGE_BYTES;
	return (struct entry *)(fuzz->bytes + n_pages * UNWIND_PAGE_BYTES);
}

/* A hash that fits. */
static void seal(struct fuzz *fuzz, size_t n)
{
	size_t room, bytes;
	struct entry *entry = head_of(fuzz, n, &room);
	struct hash hash;

	if (!entry || room < offsetof(struct entry, byte_ranges) + byte_ranges_size(0) ||
	    entry->byte_ranges.n > BYTE_RANGES_MAX)
		return;
	bytes = offsetof(struct entry, byte_ranges) +
		byte_ranges_size(entry->byte_ranges.n);
	if (room < bytes + sizeof(hash))
		return;
	hash_of(entry, bytes, &hash);
	memcpy((uint8_t *)entry + bytes, &hash, sizeof(hash));
}

/* An entry of pages that differ, mostly in what the head page says. */
static void rewrite(struct fuzz *fuzz, const struct seed *from, size_t *n)
{
	size_t room, i = draw(fuzz, 4) ? draw(fuzz, sizeof(struct unwind_head))
				       : draw(fuzz, from->n_pages * sizeof(*from->pages));
	const struct entry *entry = head_of(fuzz, *n, &room);
	uint8_t *changed = (uint8_t *)from->pages + i, before = *changed;

	fuzz->entry.head = entry->head;
	memcpy(&fuzz->entry.byte_ranges, &entry->byte_ranges,
	       byte_ranges_size(entry->byte_ranges.n));
	*changed = (uint8_t)draw(fuzz, 256);
	*n = write_entry(fuzz, from, fuzz->bytes);
	*changed = before;
}

static void count_pages(void *arg, uint32_t first, const union unwind_page *pages,
			uint32_t n)
{
	struct fuzz *fuzz = arg;

	must(fuzz, first == fuzz->n_came && n && n <= ENTRY_PAGES_AT_ONCE, "in turn");
	fuzz->n_came += n;
}

static void read_entry(struct fuzz *fuzz, size_t n)
{
	const struct entry_sink sink = { count_pages, fuzz };
	struct entry *entry = &fuzz->entry;
	struct unwind_head head;
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
	fuzz->n_came = 0;
	err = entry_read_pages(fuzz->fd, entry, fuzz->room, &sink, &head);
	must(fuzz, !err || err == -EBADMSG, "an expected error");
	fuzz->half += err != 0;
	if (err)
		return;
	must(fuzz, fuzz->n_came == entry->head.n_pages, "all pages");
	must(fuzz, unwind_head_holds(&head, fuzz->n_came), "a table");
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
		rewrite(fuzz, from, &n);
	times = draw(fuzz, 5);
	for (size_t i = 0; i < times; i++)
		mutate_once(fuzz, from->n_pages * sizeof(*from->pages), &n);
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
	for (size_t i = 0; i < fuzz.n_seeds; i++) {
		free(fuzz.seeds[i].bytes);
		free(fuzz.seeds[i].pages);
	}
	return good ? 0 : 1;
}
