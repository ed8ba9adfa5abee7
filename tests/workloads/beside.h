/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that lies beside the program which opens it. */
#ifndef WORKLOADS_BESIDE_H
#define WORKLOADS_BESIDE_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Beside the program, wherever that is. */
static inline void *open_beside(const char *program, const char *name)
{
	const char *slash = strrchr(program, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - program) : 0,
		 program, name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

#endif
