// SPDX-License-Identifier: BSD-2-Clause
/*
 * mutate RUNS SEED FILE [OTHER]    damages a file's debug information, and that of the
 * other one, which is its alternate file or, by the ending .dw[op], that of its unit,
 * RUNS times, and asks for locations in it. Whatever comes of it must end, and say at
 * most once what an address is. The sanitizers see to the rest; a run is repeated by its
 * seed.
 */
#include "base/error.h"
#include "obj/elf_file.h"
#include "obj/inlines.h"
#include "obj/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDRESSES 64
#define PARTS_MAX 32

struct damaged {
	unsigned char *whole, *now;
	size_t bytes;
	int fd;
};

struct part {
	struct damaged *of;
	size_t at, n;
};

struct mutator {
	struct damaged file, other;
	struct split_file split;      /* the other one, if it is a .dwo */
	struct inline_files files;    /* that go with the file */
	struct part parts[PARTS_MAX]; /* sections .debug_* */
	size_t n_parts;
	uint64_t addrs[ADDRESSES];
	unsigned char seen[ADDRESSES];
	uint64_t state;
	unsigned long answers, inlined, refused;
	double longest;
};

static uint64_t draw(struct mutator *m, uint64_t below)
{
	m->state ^= m->state << 13;
	m->state ^= m->state >> 7;
	m->state ^= m->state << 17;
	return below ? m->state % below : 0;
}

static void find_parts(struct mutator *m, struct damaged *of)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)of->whole;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(of->whole + header->e_shoff);
	const char *names = (const char *)of->whole + sh[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++) {
		if (!strncmp(names + sh[i].sh_name, ".debug_", 7) &&
		    m->n_parts < PARTS_MAX && sh[i].sh_size)
			m->parts[m->n_parts++] =
				(struct part){ of, sh[i].sh_offset, sh[i].sh_size };
		if (!strcmp(names + sh[i].sh_name, ".text"))
			for (size_t k = 0; k < ADDRESSES; k++)
				m->addrs[k] =
					sh[i].sh_addr + k * sh[i].sh_size / ADDRESSES;
	}
}

static void mutate(struct mutator *m)
{
	static const unsigned char telling[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0x1d,
						 0x2e, 0x31, 0x55, 0x11, 0x13, 0x23 };

	for (uint64_t n = 1 + draw(m, 12); n; n--) {
		const struct part part = m->parts[draw(m, m->n_parts)];
		unsigned char *now = part.of->now;
		/* what comes first is what leads to the rest */
		size_t at = part.at + draw(m, draw(m, 2)     ? part.n
					      : part.n < 256 ? part.n
							     : 256);

		/* libdw 0.188 looks for a string's end beyond .debug_line_str, if the
		 * section's last byte is none: a read too far, and in the sandbox */
		if (at + 1 == part.at + part.n)
			continue;
		if (draw(m, 2))
			now[at] ^= (unsigned char)(1u << draw(m, 8));
		else
			now[at] = telling[draw(m, sizeof(telling))];
	}
}

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	struct mutator *m = arg;

	if (!n)
		return 0;
	if (index >= ADDRESSES || m->seen[index]++ || n > INLINES_MAX + 1 ||
	    *locations[n - 1].name)
		abort();
	for (size_t i = 0; i < n; i++)
		m->answers +=
			strlen(locations[i].name) + strlen(locations[i].file) < 1u << 20;
	m->inlined += n > 1;
	return 0;
}

/* What damage makes of the unit's number is no other file's. */
static int on_split(void *arg, size_t index, const char *path, uint64_t id)
{
	struct mutator *m = arg;

	if (index >= ADDRESSES || strlen(path) >= 1u << 20)
		abort();
	if (!m->split.id)
		m->split.id = id;
	return 0;
}

/* fd: the other file's. */
static bool add_file(struct mutator *m, int fd, const char *path)
{
	size_t n = strlen(path);

	if (n < 4 || (strcmp(path + n - 4, ".dwo") && strcmp(path + n - 4, ".dwp"))) {
		m->files.alternate = fd;
		return true;
	}
	m->split.fd = fd;
	m->files.splits = &m->split;
	m->files.n_splits = 1;
	return !elf_splits(m->file.fd, m->addrs, ADDRESSES, on_split, m) && m->split.id;
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void run(struct mutator *m, uint64_t seed)
{
	double begun = now(), took;
	int err;

	m->state = seed * 0x9e3779b97f4a7c15ULL + 1;
	memcpy(m->file.now, m->file.whole, m->file.bytes);
	if (m->other.now)
		memcpy(m->other.now, m->other.whole, m->other.bytes);
	memset(m->seen, 0, sizeof(m->seen));
	mutate(m);
	if (m->files.n_splits)
		elf_splits(m->file.fd, m->addrs, ADDRESSES, on_split, m);
	err = elf_inlines(
		&(struct inline_request){ m->file.fd, m->files, m->addrs, ADDRESSES },
		on_locations, m);
	m->refused += err != 0;
	if (err && err != -EBADMSG && err != -EFBIG && err != -ENOMEM) {
		fprintf(stderr, "mutate: seed %lu: %d\n", (unsigned long)seed, err);
		abort();
	}
	error_clear();
	took = now() - begun;
	m->longest = took > m->longest ? took : m->longest;
}

static bool load(struct mutator *m, struct damaged *of, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	of->bytes = (size_t)st.st_size;
	of->whole = mmap(NULL, of->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	of->fd = memfd_create("mutated", MFD_CLOEXEC);
	if (of->whole == MAP_FAILED || ftruncate(of->fd, st.st_size))
		return false;
	of->now = mmap(NULL, of->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, of->fd, 0);
	if (of->now == MAP_FAILED)
		return false;
	memcpy(of->now, of->whole, of->bytes);
	find_parts(m, of);
	return m->n_parts;
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	static struct mutator m = { .files.alternate = -1 };

	if (argc < 4 || !load(&m, &m.file, argv[3]) ||
	    (argc > 4 &&
	     (!load(&m, &m.other, argv[4]) || !add_file(&m, m.other.fd, argv[4])))) {
		fprintf(stderr, "usage: mutate RUNS SEED FILE [OTHER]\n");
		return 2;
	}
	for (unsigned long i = 0; i < runs; i++)
		run(&m, seed + i);
	printf("# %lu runs: %lu locations, %lu addresses with inlined functions, %lu "
	       "refused, "
	       "the longest %.1f ms\n",
	       runs, m.answers, m.inlined, m.refused, m.longest * 1e3);
	/* damage that corrupts everything would find nothing */
	return m.answers > runs && m.inlined ? 0 : 1;
}
