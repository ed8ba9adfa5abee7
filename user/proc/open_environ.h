/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables of another process's environment, and of these only the ones that were asked
 * for: others hold passwords and tokens, and never leave the process that reads them. To
 * read an environment is to read the process's memory, which may wait: see
 * proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_ENVIRON_H
#define WEFT_PROC_OPEN_ENVIRON_H

#include "base/str.h"

#include <sys/types.h>

#define ENVIRON_BYTES_MAX     (256u << 10) /* read of one */
#define ENVIRON_VALUE_MAX     4096	   /* longer ones are left out */
#define ENVIRON_VARIABLES_MAX 18

/*
 * names: with commas. A sealed copy: NAME=VALUE and a NUL for each that is set, as the
 * process began; of two of one name the first, as getenv(3) has it. -ESRCH: it is gone.
 */
int open_environ(pid_t pid, const char *names, int *ret_fd);

/* The same out of its bytes. */
void environ_pick(struct str *out, const char *names, const char *bytes, size_t n);

#endif
