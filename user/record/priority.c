// SPDX-License-Identifier: BSD-2-Clause
#include "record/priority.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#define NICE_USUAL 0
#define NICE_FIRST (-20)

int priority_raise(void)
{
	int nice = getpriority(PRIO_PROCESS, 0);

	if (nice == NICE_USUAL && setpriority(PRIO_PROCESS, 0, NICE_FIRST))
		log_verbose("cannot raise the priority: %s", strerror(errno));
	return nice;
}

void priority_restore(int nice)
{
	/* to the value it had: always permitted */
	(void)setpriority(PRIO_PROCESS, 0, nice);
}
