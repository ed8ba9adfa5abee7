/* SPDX-License-Identifier: BSD-2-Clause */
/* Which package of the distribution a file is from, by dpkg's own lists. */
#ifndef WEFT_SYM_PACKAGES_H
#define WEFT_SYM_PACKAGES_H

#include <stddef.h>
#include <stdint.h>

#define PACKAGE_BYTES 128

struct packaged_file {
	const char *path;  /* borrowed */
	uint32_t maj, min; /* device of the file that was mapped */
	uint64_t ino;
	char package[PACKAGE_BYTES]; /* with its debug symbols, "zlib1g-dbgsym" */
};

/* The packages of n files; "": the file is no package's, or what lies at its path here is
 * another file (a container's), or this machine has no dpkg. Reads the lists of packages
 * whose names begin as the files' do, and those of all, some ten MB, if that is not
 * enough. */
void packages_find_debug(struct packaged_file *files, size_t n);

#endif
