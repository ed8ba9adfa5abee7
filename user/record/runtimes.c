// SPDX-License-Identifier: BSD-2-Clause
#include "record/runtimes.h"

#include <stddef.h>
#include <string.h>

/* By how the file's name begins. Each was tried with weft but .NET's, which is from its
 * documentation. */
static const struct runtime {
	const char *file, *asked;
} runtimes[] = {
	{ "node", "node --perf-basic-prof" },
	{ "libnode.so", "node --perf-basic-prof" },
	{ "libjvm.so", "jcmd PID Compiler.perfmap" },
	{ "beam.smp", "erl +JPperf true" },
	{ "mono", "mono --jitmap" },
	{ "libmonosgen", "mono --jitmap" },
	{ "wasmtime", "wasmtime --profile=perfmap" },
	{ "libcoreclr.so", "DOTNET_PerfMapEnabled=1" },
};

const char *runtime_that_names(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (!strncmp(base, runtimes[i].file, strlen(runtimes[i].file)))
			return runtimes[i].asked;
	return NULL;
}
