/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A copy of generated code in another process's memory, as an ELF file of one segment:
 * so whoever reads files reads it, where he reads them. It has one section, of code, and
 * ELFOSABI_STANDALONE, by which it is known. To read memory may wait: see proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_CODE_H
#define WEFT_PROC_OPEN_CODE_H

#include <stdint.h>
#include <sys/types.h>

#define OPEN_CODE_MAX (512u << 10)

/*
 * Of addresses [begin, end), a memfd that can't be changed; the caller's. A page that
 * can't be read is one without code. 0; -EINVAL: more than OPEN_CODE_MAX, or nothing;
 * -EFAULT: no page can be read; -ESRCH: the process is gone; -EPERM: its memory can't be
 * read; -ENOMEM.
 */
int open_code(pid_t pid, uint64_t begin, uint64_t end, int *ret_fd);

#endif
