/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folly's way of doing it, see folly.h.
 *
 *	folly plain MS        a chain with marker frames, ending in detached_task
 *	folly dead MS LIB     the same, after LIB was loaded: it holds a copy of the
 *	                      key that is never set
 *	folly live MS LIB     LIB has a key and holders of its own, both in use: the
 *	                      program's operation calls LIB's dispatcher, 1 : 1
 *
 * With NO_LIBRARIES, for static programs, it is always plain.
 *
 * Async:  detached_task;task_a;task_b;--;resume    (and LIB's; see follylib.c)
 */
#include "folly.h"

#include <dlfcn.h>

extern uintptr_t folly_async_stack_metadata_frame_cookie;
extern uintptr_t __folly_suspended_frame_cookie;
uintptr_t folly_async_stack_metadata_frame_cookie;
uintptr_t __folly_suspended_frame_cookie;

static void (*library_run)(void);

/* Not zero, not code, and known only when the program runs. */
static void make_cookies(void)
{
	static char marks[2];

	folly_async_stack_metadata_frame_cookie = (uintptr_t)&marks[0];
	__folly_suspended_frame_cookie = (uintptr_t)&marks[1];
}

FN void task_a(void)
{
	spin(1);
}

FN void task_b(void)
{
	spin(2);
}

FN void detached_task(void)
{
	spin(3);
}

FN void resume(void)
{
	spin(360);
}

FN void resume_into_library(void)
{
	spin(3600);
	library_run();
	AFTER();
}

/* oldest first: detached_task, a marker, task_a, two markers, task_b */
static struct AsyncStackFrame *make_chain(struct AsyncStackFrame frames[6])
{
	void *mark = (void *)folly_async_stack_metadata_frame_cookie;

	folly_frame(&frames[0], NULL, inside((void *)detached_task));
	folly_frame(&frames[1], &frames[0], mark);
	folly_frame(&frames[2], &frames[1], inside((void *)task_a));
	folly_frame(&frames[3], &frames[2], mark);
	folly_frame(&frames[4], &frames[3], mark);
	folly_frame(&frames[5], &frames[4], inside((void *)task_b));
	return &frames[5];
}

FN void resume_loop(struct AsyncStackFrame *leaf)
{
	struct AsyncStackRoot root;

	FOLLY_SCOPED_ROOT(&root);
	for (;;) {
		folly_activate(&root, leaf);
		if (library_run)
			resume_into_library();
		else
			resume();
		folly_deactivate(&root, leaf);
	}
	folly_root_leave(&root);
}

int main(int argc, char **argv)
{
	struct AsyncStackFrame frames[6];
	UNUSED void *library = NULL;

	if (argc < 3)
		return work_usage(argv[0], "plain MS | dead MS LIB | live MS LIB");
	work_lifetime(argv[2]);
	make_cookies();
#ifndef NO_LIBRARIES
	if (argc > 3) {
		library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 3;
	}
	if (!strcmp(argv[1], "live"))
		library_run = (void (*)(void))dlsym(library, "library_run");
#endif
	work_ready();
	resume_loop(make_chain(frames));
	return 2;
}
