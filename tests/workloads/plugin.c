/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin with a folly of its own, number PLUGIN of those that plugins.c loads, and
 * so with a key, holders and roots of its own. See there.
 *
 * Async:  task_N;--;op_N;burn_N
 */
#include "folly.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define OWN(name)   JOIN(name##_, PLUGIN)

typedef void plugin_run(void *const *next);

static FN void OWN(task)(void)
{
	spin(1);
}

static FN void OWN(burn)(void)
{
	spin(3600);
}

static FN void OWN(op)(void *const *next)
{
	OWN(burn)();
	if (*next)
		((plugin_run *)*next)(next + 1);
	AFTER();
}

plugin_run OWN(loop);

__attribute__((visibility("default"))) FN void OWN(loop)(void *const *next)
{
	struct AsyncStackFrame frame;
	struct AsyncStackRoot root;

	folly_frame(&frame, NULL, inside((void *)OWN(task)));
	FOLLY_SCOPED_ROOT(&root);
	folly_activate(&root, &frame);
	OWN(op)(next);
	folly_deactivate(&root, &frame);
	folly_root_leave(&root);
}
