// SPDX-License-Identifier: BSD-2-Clause
/*
 * locations FILE [ALTERNATE]    reads addresses as linked, in hex, a line each, from
 * stdin; prints for each what elf_inlines() says of it, with the .dwo files that FILE
 * names, or FILE.dwp, as addr2line -a -i -f does: the address, then pairs of lines, the
 * innermost function first, and FILE:LINE. The name of the last, which is the symbol's,
 * is "-".
 */
#include "base/error.h"
#include "obj/inlines.h"
#include "obj/names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_MAX (1u << 20)

static uint64_t addresses[ADDRESSES_MAX];
static char *said[ADDRESSES_MAX];

static int on_locations(void *arg, size_t index, const struct source_location *locations,
			size_t n)
{
	FILE *f;
	size_t bytes;

	if (!n)
		return 0;
	if (said[index]) {
		fprintf(stderr, "locations: two answers of one address\n");
		exit(1);
	}
	f = open_memstream(&said[index], &bytes);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\n%s:%u\n", *locations[i].name ? locations[i].name : "-",
			*locations[i].file ? locations[i].file : "??", locations[i].line);
	fclose(f);
	return 0;
}

static char package[4096];

static int on_split(void *arg, size_t index, const char *path, uint64_t id)
{
	struct split_file *splits = arg;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open(package, O_RDONLY | O_CLOEXEC);
	if (index < SPLIT_FILES_MAX)
		splits[index] = (struct split_file){ id, fd };
	return 0;
}

/* How many there are; one that can't be opened is left out. */
static size_t open_splits(int fd, size_t n_addresses, struct split_file *splits)
{
	size_t n = 0;

	if (elf_splits(fd, addresses, n_addresses, on_split, splits))
		return 0;
	for (size_t i = 0; i < SPLIT_FILES_MAX; i++)
		if (splits[i].fd > 0)
			splits[n++] = splits[i];
	return n;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int alternate = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	static struct split_file splits[SPLIT_FILES_MAX];
	size_t n = 0, n_splits;

	snprintf(package, sizeof(package), "%s.dwp", argc > 1 ? argv[1] : "");
	while (n < ADDRESSES_MAX && scanf("%" SCNx64, &addresses[n]) == 1)
		n++;
	n_splits = fd < 0 ? 0 : open_splits(fd, n, splits);
	if (fd < 0 || elf_inlines(
			      &(struct inline_request){
				      fd, { alternate, splits, n_splits }, addresses, n },
			      on_locations, NULL)) {
		fprintf(stderr, "locations: %s\n", error_sentence());
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		printf("0x%" PRIx64 "\n%s", addresses[i], said[i] ? said[i] : "");
	return 0;
}
