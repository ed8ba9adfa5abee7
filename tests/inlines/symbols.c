// SPDX-License-Identifier: BSD-2-Clause
/*
 * symbols FILE    reads addresses as linked, in hex, a line each, from stdin; prints for
 * each the name that weft gives its function, by symbols or by Go's table, or "-".
 */
#include "base/error.h"
#include "obj/elf_file.h"
#include "obj/elf_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_MAX (1u << 20)

static uint64_t addresses[ADDRESSES_MAX], offsets[ADDRESSES_MAX];
static char *said[ADDRESSES_MAX];

static int on_name(void *arg, size_t index, const char *name, uint64_t start)
{
	if (!said[index])
		said[index] = strdup(name);
	return 0;
}

static int find_offsets(int fd, size_t n)
{
	AUTO_ELF file = { 0 };
	uint64_t bytes;
	int err = elf_file_open(&file, fd);

	for (size_t i = 0; !err && i < n; i++)
		if (!elf_file_offset(&file, addresses[i], &offsets[i], &bytes))
			return fail(-1, "0x%" PRIx64 " lies nowhere", addresses[i]);
	return err;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct elf_names_request request;
	size_t n = 0;

	while (n < ADDRESSES_MAX && scanf("%" SCNx64, &addresses[n]) == 1)
		n++;
	request = (struct elf_names_request){ fd, offsets, n, false };
	if (fd < 0 || find_offsets(fd, n) || elf_names(NULL, &request, on_name, NULL) ||
	    go_names(fd, offsets, n, on_name, NULL)) {
		fprintf(stderr, "symbols: %s\n", error_sentence());
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		printf("%s\n", said[i] ? said[i] : "-");
	return 0;
}
