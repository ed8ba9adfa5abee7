/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A detached chain of N frames, and one operation on top that runs again and
 * again; beside it the dispatcher does work that no operation asked for, so
 * that its root is transparent for a quarter of the time.
 *
 *	chain plain MS N       step 3 : housekeeping 1
 *	chain keys MS N        the same, after 40 other pthread keys
 *	chain scope MS N       the same, with a root entered for each operation
 *	chain short MS N       operations of 50 ns, nothing else
 *	chain tight MS N       the step pushes and pops a frame and does nothing
 *	chain current MS N     the oldest frame's root is the dispatcher's own
 *	chain fork MS N        the same in children of fork()
 *
 * Async:  hop_000;...;--;step    main;dispatch;housekeeping
 */
#include "hops.h"

#define CHAIN_MAX 1000 /* behind the last hop it goes on in the first */

static struct weft_frame frames[CHAIN_MAX];
static struct weft_frame *leaf;

FN void step(void)
{
	spin(360);
}

FN void short_step(void)
{
	spin(5);
}

FN void housekeeping(void)
{
	spin(120);
}

/* Between push and pop the frame is this function's callee, and not yet run. */
FN void tight_step(struct weft_root *root)
{
	struct weft_frame child;

	WITH_FRAME();
	for (int i = 0; i < 1000; i++) {
		weft_frame_push(root, &child, place_in((void *)tight_step));
		weft_frame_pop(root, &child);
	}
}

FN void dispatch(long rounds)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	while (rounds--) {
		weft_frame_resume(&entry.root, leaf);
		step();
		weft_frame_suspend(&entry.root, leaf);
		housekeeping();
	}
	weft_root_leave(&entry);
}

FN void dispatch_current(long rounds)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	frames[0].root = &entry.root;
	while (rounds--) {
		weft_frame_resume(&entry.root, leaf);
		step();
		weft_frame_suspend(&entry.root, leaf);
		housekeeping();
	}
	weft_root_leave(&entry);
}

FN void dispatch_scope(long rounds)
{
	while (rounds--) {
		{
			WEFT_ROOT_SCOPE(leaf);
			step();
		}
		housekeeping();
	}
}

FN void dispatch_short(long rounds)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	while (rounds--) {
		weft_frame_resume(&entry.root, leaf);
		short_step();
		weft_frame_suspend(&entry.root, leaf);
	}
	weft_root_leave(&entry);
}

FN void dispatch_tight(long rounds)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	while (rounds--) {
		weft_frame_resume(&entry.root, leaf);
		tight_step(&entry.root);
		weft_frame_suspend(&entry.root, leaf);
	}
	weft_root_leave(&entry);
}

/* Each child inherits the holder, and lives for a few milliseconds. */
FN void fork_loop(long rounds)
{
	while (rounds--) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dispatch(1000);
			work_exit(0);
		}
		sys_call(SYS_wait4, -1, 0, 0, 0, 0);
	}
}

static const struct {
	const char *name;
	void (*run)(long rounds);
} modes[] = {
	{ "plain", dispatch },	     { "keys", dispatch },
	{ "scope", dispatch_scope }, { "short", dispatch_short },
	{ "tight", dispatch_tight }, { "current", dispatch_current },
	{ "fork", fork_loop },
};

int main(int argc, char **argv)
{
	pthread_key_t others[40];
	int n = argc > 3 ? atoi(argv[3]) : 0;

	if (n < 1 || n > CHAIN_MAX)
		return work_usage(argv[0], "MODE MS FRAMES");
	work_lifetime(argv[2]);
	if (!strcmp(argv[1], "keys"))
		for (int i = 0; i < 40; i++)
			pthread_key_create(&others[i], NULL);
	leaf = hops_chain(frames, n, 0, NULL);
	work_ready();
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, argv[1]))
			modes[i].run(1L << 60);
	return 2;
}
