/* SPDX-License-Identifier: BSD-2-Clause */
/* Files whose file system may make a reader wait, and copies of them, which don't. */
#ifndef WEFT_PROC_OPEN_COPY_H
#define WEFT_PROC_OPEN_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OPEN_COPY_BYTES_MAX (64u << 20)

/*
 * Can whoever reads, looks at or closes it be made to wait for somebody other than the
 * kernel and a disk? pid: who led to the file. Not only a user's own file system (FUSE)
 * can: so can one in the network whose server is gone, and /proc.
 */
bool open_can_wait(int fd, pid_t pid);

/* In memory, sealed; -EFBIG; -ETIMEDOUT: it took longer than until then. */
int open_copy(int fd, uint64_t until_ns, int *ret_fd);

/* These bytes, in the same way. */
int open_copy_bytes(const void *bytes, size_t n, int *ret_fd);

/* What a memfd holds stays as it is, and is read from its beginning. 0 or -errno. */
int open_copy_seal(int memfd);

/* Was it made so? */
bool open_is_copy(int fd);

#endif
