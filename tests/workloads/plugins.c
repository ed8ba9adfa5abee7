/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plugins that were each linked with a folly of their own, so that the process has
 * as many keys, of which some are set, all on the same thread at the same time.
 *
 *	plugins MS N WHICH    loads libplug0.so to the N-th, and runs those of WHICH,
 *	                      a digit each: the operation of one calls the dispatcher
 *	                      of the next; all burn the same
 *
 * Thread:  main;loop_2;op_2;loop_5;op_5;burn_5         (WHICH: 25...)
 * Async:   task_5;--;op_5;burn_5
 */
#include "work.h"

#include <dlfcn.h>

#define PLUGINS 10

static void *open_plugin(const char *program, int number)
{
	const char *slash = strrchr(program, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%.*slibplug%d.so",
		 slash ? (int)(slash + 1 - program) : 0, program, number);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
	void *plugins[PLUGINS], *runs[PLUGINS + 1] = { NULL };
	int n = argc > 3 ? atoi(argv[2]) : 0;

	if (n < 1 || n > PLUGINS || strlen(argv[3]) > PLUGINS)
		return work_usage(argv[0], "MS N WHICH");
	for (int i = 0; i < n; i++)
		if (!(plugins[i] = open_plugin(argv[0], i)))
			return 3;
	for (int i = 0; argv[3][i]; i++) {
		char name[] = { 'l', 'o', 'o', 'p', '_', argv[3][i], '\0' };

		runs[i] = dlsym(plugins[(argv[3][i] - '0') % n], name);
		if (!runs[i])
			return 3;
	}
	work_lifetime(argv[1]);
	work_ready();
	for (;;)
		((void (*)(void *const *))runs[0])(runs + 1);
}
