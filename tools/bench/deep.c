/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hot leaf on a stack of known depth.
 *
 *	deep MS FRAMES BYTES [chains|fibers|whole]
 *
 * FRAMES calls of some BYTES of stack each, then a loop in registers for MS of
 * CPU time, so that as many ticks fall on a busy machine as on a quiet one.
 * Every 20th frame is a dispatcher. With `chains` each dispatcher has entered
 * a root and runs a chain of 10 frames, the last of which is its own wait: 100
 * frames make 50 async callers in 5 roots, and the async view goes on in this
 * thread five times. With `fibers` each dispatcher resumes a fiber, on whose stack it
 * goes on: 100 frames lie on 6 stacks. Without, the stack is the same and no root is
 * entered. It ends with the first of these frames, so that who goes by frame pointers
 * sees as much of it as who goes by tables, and nobody a thread's start; with `whole` it
 * has what calls main() above, as any program.
 *
 * The frames of operations lie apart on the heap, as in a program that embeds
 * them in its requests.
 */
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/async.h>
#include <weft/fiber.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif
#define AFTER() __asm__ volatile("" ::: "memory")

#define FRAMES_MAX	 4000
#define BYTES_MAX	 1500 /* of a frame; so all of it fits 8 MB */
#define EVERY		 20
#define FIBER_BYTES	 (64u << 10) /* for EVERY frames and a signal */
#define CHAIN_OPERATIONS 9	     /* and the wait */

struct operation {
	struct weft_frame frame;
	char rest[232];
};

struct plan {
	size_t pad; /* of each frame */
	bool chains, fibers, whole, measure;
	unsigned int left; /* for the fiber that begins */
	uintptr_t last_fp;
	size_t frame_bytes;
};

static FN void leaf(const struct plan *plan)
{
	unsigned long n = ~0UL, x = 3;

	if (plan->measure)
		return;
	__asm__ volatile("" ::"r"(__builtin_frame_address(0)));
	for (; n; n--)
		__asm__ volatile("" : "+r"(x));
}

static struct weft_frame *chain(struct weft_frame *waits)
{
	struct weft_frame *parent = waits;

	for (int i = 0; i < CHAIN_OPERATIONS; i++) {
		struct operation *operation = calloc(1, sizeof(*operation));

		if (!operation)
			_exit(1);
		weft_frame_init(&operation->frame, parent, WEFT_HERE());
		parent = &operation->frame;
	}
	return parent;
}

static void dispatch(struct plan *plan, unsigned int left);

static FN void down(struct plan *plan, unsigned int left)
{
	volatile char *room = __builtin_alloca(plan->pad);
	uintptr_t fp = (uintptr_t)__builtin_frame_address(0);

	room[0] = 0;
	plan->frame_bytes = plan->last_fp - fp;
	plan->last_fp = fp;
	if (!left)
		leaf(plan);
	else if (left % EVERY == EVERY / 2 && !plan->measure)
		dispatch(plan, left - 1);
	else
		down(plan, left - 1);
	AFTER();
}

static void in_fiber(struct weft_fiber *self, void *arg)
{
	struct plan *plan = arg;

	down(plan, plan->left);
}

static void down_in_fiber(struct plan *plan, unsigned int left)
{
	struct weft_fiber_pool pool = WEFT_FIBER_POOL_INIT(FIBER_BYTES, 0);
	struct weft_fiber *fiber;

	pool.flags = WEFT_FIBER_NO_ROOTS;
	plan->left = left;
	if (weft_fiber_new(&fiber, &pool, in_fiber, plan))
		_exit(1);
	weft_fiber_resume(fiber, NULL);
}

static FN void dispatch(struct plan *plan, unsigned int left)
{
	volatile char *room = __builtin_alloca(plan->pad);
	struct weft_wait wait;
	struct weft_entry entry;

	room[0] = 0;
	if (plan->chains) {
		weft_wait_begin(&wait);
		weft_root_enter(&entry, chain(&wait.frame));
	}
	if (plan->fibers)
		down_in_fiber(plan, left - 1);
	else
		down(plan, left - 1);
	if (plan->chains) {
		weft_root_leave(&entry);
		weft_wait_end(&wait);
	}
}

/* How much room a frame must leave so that it takes so many bytes. */
static size_t pad_for(size_t bytes)
{
	struct plan plan = { .measure = true };

	for (; plan.pad < bytes; plan.pad += 8) {
		down(&plan, 2);
		if (plan.frame_bytes >= bytes)
			break;
	}
	return plan.pad;
}

static void on_alarm(int signal)
{
	_exit(0);
}

/* The stack ends here by frame pointers as a thread's does: no frame is above. */
static FN void bottom(struct plan *plan, unsigned int frames)
{
	if (!plan->whole)
		*(void **)__builtin_frame_address(0) = NULL;
	if (frames)
		down(plan, frames - 1);
	else
		leaf(plan);
	_exit(0);
}

int main(int argc, char **argv)
{
	long ms = argc > 3 ? atol(argv[1]) : 0;
	long frames = argc > 3 ? atol(argv[2]) : -1;
	long bytes = argc > 3 ? atol(argv[3]) : 0;
	struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
	const char *how = argc > 4 ? argv[4] : "";
	struct plan plan = {
		.chains = !strcmp(how, "chains"),
		.fibers = !strcmp(how, "fibers"),
		.whole = !strcmp(how, "whole"),
	};

	if (ms <= 0 || frames < 0 || frames > FRAMES_MAX || bytes < 0 ||
	    bytes > BYTES_MAX) {
		fputs("usage: deep MS FRAMES BYTES [chains|fibers|whole]\n", stderr);
		return 2;
	}
	plan.pad = pad_for((size_t)bytes);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	bottom(&plan, (unsigned int)frames);
}
