/* SPDX-License-Identifier: BSD-2-Clause */
/* Which incarnation of a process something is published for. */
#ifndef WEFT_PUBLISH_IDENTITY_H
#define WEFT_PUBLISH_IDENTITY_H

#include "proc/process.h"
#include "publish/outside.h"

/*
 * Reads the identity of the incarnation that has these mappings. -ESRCH: it is gone, or
 * runs another program by now, of which we have not heard yet.
 */
int identity_read(const struct outside *outside, const struct process *process,
		  const struct module_table *modules, const struct files *files,
		  struct identity *ret);

#endif
