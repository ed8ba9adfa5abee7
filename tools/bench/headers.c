/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the public headers cost, beyond an empty loop: lines of "name ns". Each is
 * the least of many short runs, since a run that was interrupted measures the
 * interruption. Built with BOOST, a switch of boost.context beside ours.
 */
#define WEFT_REGISTRY
#define WEFT_FIBER_IMPLEMENTATION
#include <weft/fiber.h>

#include <stdio.h>
#include <time.h>

#define TURNS  20000
#define RUNS   500
#define USE(p) __asm__ volatile("" ::"r"(p) : "memory")
#define FN     __attribute__((noinline))

static struct weft_frame running;
static struct weft_fiber *plain, *rooted;

static FN void empty(struct weft_root *root)
{
	for (int i = 0; i < TURNS; i++)
		USE(root);
}

static FN void push_pop(struct weft_root *root)
{
	struct weft_frame frame;

	for (int i = 0; i < TURNS; i++) {
		weft_frame_push(root, &frame, WEFT_HERE());
		USE(&frame);
		weft_frame_pop(root, &frame);
	}
}

static FN void mark(struct weft_root *root)
{
	struct weft_frame frame;

	for (int i = 0; i < TURNS; i++) {
		weft_frame_mark(&frame);
		USE(&frame);
	}
	USE(root);
}

static FN void enter_leave(struct weft_root *root)
{
	for (int i = 0; i < TURNS; i++) {
		WEFT_ROOT_SCOPE(&running);
		USE(root);
	}
}

static FN void getspecific(struct weft_root *root)
{
	for (int i = 0; i < TURNS; i++)
		USE(pthread_getspecific(folly_async_stack_root_tls_key));
	USE(root);
}

static FN void capture_here(struct weft_root *root)
{
	struct weft_op op;

	for (int i = 0; i < TURNS; i++) {
		weft_capture(&op);
		USE(&op);
	}
	USE(root);
}

/* Eight callers above the one that captures. */
static FN void capture_below(struct weft_root *root, int depth)
{
	if (depth)
		capture_below(root, depth - 1);
	else
		capture_here(root);
	USE(root);
}

static FN void capture(struct weft_root *root)
{
	capture_below(root, 10);
}

static FN void leaf(struct weft_root *root)
{
	static struct weft_leaf leaf;

	for (int i = 0; i < TURNS; i++) {
		weft_leaf_add(&leaf, &running);
		weft_leaf_remove(&leaf);
	}
	USE(root);
}

static void yields(struct weft_fiber *self, void *arg)
{
	for (;;)
		weft_fiber_yield(self, arg);
}

/* There and back: two switches. */
static FN void switch_plain(struct weft_root *root)
{
	for (int i = 0; i < TURNS / 2; i++)
		weft_fiber_resume(plain, NULL);
	USE(root);
}

static FN void switch_rooted(struct weft_root *root)
{
	for (int i = 0; i < TURNS / 2; i++)
		weft_fiber_resume(rooted, NULL);
	USE(root);
}

#ifdef BOOST
typedef void *fcontext;
struct transfer {
	fcontext from;
	void *data;
};

struct transfer jump_fcontext(fcontext to, void *data);
fcontext make_fcontext(void *top, size_t bytes, void (*entry)(struct transfer));

static fcontext other;

static void jumps_back(struct transfer transfer)
{
	for (;;)
		transfer = jump_fcontext(transfer.from, NULL);
}

static FN void switch_boost(struct weft_root *root)
{
	for (int i = 0; i < TURNS / 2; i++)
		other = jump_fcontext(other, NULL).from;
	USE(root);
}
#endif

static struct {
	const char *name;
	void (*run)(struct weft_root *root);
	double best_ns;
} loops[] = {
	{ "empty", empty, 1e9 },
	{ "push_pop", push_pop, 1e9 },
	{ "mark", mark, 1e9 },
	{ "enter_leave", enter_leave, 1e9 },
	{ "getspecific", getspecific, 1e9 },
	{ "capture", capture, 1e9 },
	{ "leaf", leaf, 1e9 },
	{ "switch", switch_plain, 1e9 },
	{ "switch_rooted", switch_rooted, 1e9 },
#ifdef BOOST
	{ "switch_boost", switch_boost, 1e9 },
#endif
};

#define LOOPS (sizeof(loops) / sizeof(*loops))

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(void)
{
	struct weft_fiber_pool pool = WEFT_FIBER_POOL_INIT(65536, 0);
	struct weft_entry entry;

	weft_frame_init(&running, NULL, WEFT_HERE());
	weft_root_enter(&entry, &running);
	if (weft_fiber_new(&rooted, NULL, yields, NULL))
		return 1;
	pool.flags = WEFT_FIBER_NO_ROOTS;
	if (weft_fiber_new(&plain, &pool, yields, NULL))
		return 1;
#ifdef BOOST
	static char stack[65536] __attribute__((aligned(64)));

	other = make_fcontext(stack + sizeof(stack), sizeof(stack), jumps_back);
#endif
	for (int run = 0; run < RUNS; run++)
		for (size_t i = 0; i < LOOPS; i++) {
			double began = now_ns(), ns;

			loops[i].run(&entry.root);
			ns = (now_ns() - began) / TURNS;
			if (ns < loops[i].best_ns)
				loops[i].best_ns = ns;
		}
	for (size_t i = 1; i < LOOPS; i++)
		printf("%s %.3f\n", loops[i].name, loops[i].best_ns - loops[0].best_ns);
	weft_root_leave(&entry);
	return 0;
}
