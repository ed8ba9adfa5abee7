/* SPDX-License-Identifier: BSD-2-Clause */
/* Which package of the distribution a file is from, by dpkg's own lists. */
#ifndef WEFT_RECORD_PACKAGES_H
#define WEFT_RECORD_PACKAGES_H

#include <stddef.h>

#define PACKAGE_BYTES 128

struct packaged_file {
	const char *path;	     /* borrowed */
	char package[PACKAGE_BYTES]; /* with its debug symbols, "zlib1g-dbgsym" */
};

/* The packages of n files; "": the file is no package's, or this machine has no dpkg.
 * Reads the lists of all packages once, some ten MB. */
void packages_find_debug(struct packaged_file *files, size_t n);

#endif
