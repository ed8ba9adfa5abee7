// SPDX-License-Identifier: BSD-2-Clause
#include "record/runtimes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON_THAT_NAMES 12 /* 3.12 */

/* By how the file's name begins: what makes it name its code, and what makes that keep
 * frame pointers. Each was tried with weft but .NET's and Electron's, which their
 * documentation tells. */
static const struct runtime {
	const char *file, *names, *keeps_fp;
} runtimes[] = {
	{ "node", "node --perf-basic-prof", NULL },
	{ "libnode.so", "node --perf-basic-prof", NULL },
	{ "deno", "deno run --v8-flags=--perf-basic-prof", NULL },
	/* the sandbox keeps a renderer from writing its map */
	{ "chrom", "chromium --no-sandbox --js-flags=--perf-basic-prof", NULL },
	{ "electron", "electron --no-sandbox --js-flags=--perf-basic-prof", NULL },
	{ "libjvm.so", "jcmd PID Compiler.perfmap", "java -XX:+PreserveFramePointer" },
	{ "beam.smp", "erl +JPperf true", "erl +JPperf true" },
	{ "mono", "mono --jitmap", "MONO_DEBUG=disable_omit_fp" },
	{ "libmonosgen", "mono --jitmap", "MONO_DEBUG=disable_omit_fp" },
	{ "libjavascriptcoregtk", "JSC_useJITDump=1", NULL },
	{ "bun", "BUN_JSC_useJITDump=1", NULL },
	{ "wasmtime", "wasmtime --profile=perfmap", NULL },
	{ "libcoreclr.so", "DOTNET_PerfMapEnabled=1", NULL },
	{ "opcache.so", "php -d opcache.jit_debug=16", NULL },
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct runtime *runtime_of(const char *path)
{
	const char *base = base_of(path);

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (!strncmp(base, runtimes[i].file, strlen(runtimes[i].file)))
			return &runtimes[i];
	return NULL;
}

const char *runtime_that_names(const char *path)
{
	const struct runtime *runtime = runtime_of(path);

	return runtime ? runtime->names : NULL;
}

const char *runtime_that_keeps_fp(const char *path)
{
	const struct runtime *runtime = runtime_of(path);

	return runtime ? runtime->keeps_fp : NULL;
}

bool runtime_names_by(const char *keeps_fp)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (!strcmp(runtimes[i].names, keeps_fp))
			return true;
	return false;
}

const char *interpreter_that_names(const char *path, const char *function)
{
	static const char python[] = "python3.", evaluates[] = "_PyEval_EvalFrame";
	const char *base = base_of(path);

	base += strncmp(base, "lib", 3) ? 0 : 3;
	if (strncmp(function, evaluates, strlen(evaluates)) ||
	    strncmp(base, python, strlen(python)) ||
	    atoi(base + strlen(python)) < PYTHON_THAT_NAMES)
		return NULL;
	return "python -X perf";
}

const char *runtime_find(const struct runtime_search *search)
{
	const char *ret = NULL;

	for (uint32_t id = 1; id < module_count(search->modules); id++) {
		const struct module *module = module_get(search->modules, id);
		const char *asked = module && module->kind == MODULE_FILE
					    ? search->asked(module->path)
					    : NULL;

		if (asked && module->pid == search->pid)
			return asked;
		if (asked && search->is_sampled(search->arg, id))
			ret = asked;
	}
	return ret;
}

bool interpreter_has_named(const char *function)
{
	return !strncmp(function, "py::", 4);
}
