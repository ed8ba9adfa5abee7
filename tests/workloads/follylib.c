/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library that was linked with a folly of its own. As liblive.so its copy is
 * used; as libdead.so it is loaded and never called, so that its key stays
 * unset. See folly.c.
 *
 * Async:  lib_task;--;lib_resume
 */
#include "folly.h"

FN void lib_task(void)
{
	spin(1);
}

FN void lib_resume(void)
{
	spin(3600);
}

FN void lib_loop(void)
{
	struct AsyncStackFrame frame;
	struct AsyncStackRoot root;

	folly_frame(&frame, NULL, inside((void *)lib_task));
	FOLLY_SCOPED_ROOT(&root);
	folly_activate(&root, &frame);
	lib_resume();
	folly_deactivate(&root, &frame);
	folly_root_leave(&root);
}

FN void library_run(void)
{
	lib_loop();
	AFTER();
}
