/* SPDX-License-Identifier: BSD-2-Clause */
/* Which life of a process something is published for. */
#ifndef WEFT_PUBLISH_IDENTITY_H
#define WEFT_PUBLISH_IDENTITY_H

#include "proc/process.h"
#include "sym/files.h"

/*
 * Reads the identity of the life that has these mappings into `what`. -ESRCH: it
 * is gone, or runs another program by now, of which we have not heard yet.
 */
int identity_read(const struct process *process, const struct module_table *modules,
		  const struct files *files, struct published *what);

#endif
