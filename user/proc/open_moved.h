/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file as it lies in memory differs from that on the disk in what its loader wrote
 * there. glibc's turns the addresses in the dynamic section, which are those that the
 * file is linked to, into those where they lie.
 */
#ifndef WEFT_PROC_OPEN_MOVED_H
#define WEFT_PROC_OPEN_MOVED_H

#include <stdint.h>

/* fd: such a file, to be read and written, whose first byte lay at `start`. Turns the
 * addresses back by which names are found; what is no such file stays as it is. 0, or
 * -errno of a write. */
int open_move_back(int fd, uint64_t start);

#endif
