/* SPDX-License-Identifier: BSD-2-Clause */
/* Which package of the distribution a file is from, by dpkg's own lists. */
#ifndef WEFT_RECORD_PACKAGES_H
#define WEFT_RECORD_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGE_BYTES 128

/* The package with the debug symbols of the file at path, "zlib1g-dbgsym". False: the
 * file is no package's, or this machine has no dpkg. Reads the lists of all packages,
 * some ten MB. */
bool packages_find_debug(const char *path, char ret[PACKAGE_BYTES]);

#endif
