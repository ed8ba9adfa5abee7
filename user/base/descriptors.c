// SPDX-License-Identifier: BSD-2-Clause
#include "base/descriptors.h"

#include <sys/resource.h>

#define DESCRIPTORS_MAX	  65536
#define DESCRIPTORS_LEAST 512 /* taken for granted where nobody says */

unsigned long descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return DESCRIPTORS_LEAST;
	limit.rlim_cur =
		limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max : DESCRIPTORS_MAX;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}
