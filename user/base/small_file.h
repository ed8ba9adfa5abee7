/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a few lines, such as the kernel makes of its counts, read at once: stdio costs
 * as much again, and an agent reads some of them every second. */
#ifndef WEFT_BASE_SMALL_FILE_H
#define WEFT_BASE_SMALL_FILE_H

#include <stddef.h>

/* As much of it as fits, and a NUL behind it: how many bytes; 0 and errno, "": it can't
 * be read. (0 and no errno: it is empty.) */
size_t small_file_read(const char *path, char *text, size_t room);

#endif
