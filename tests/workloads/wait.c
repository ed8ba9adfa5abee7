/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that waits for an operation which another one runs.
 *
 *	wait pool MS      main waits in ask() for a chain that a worker runs
 *	wait under MS     the same, and main itself waits inside an operation of
 *	                  its own dispatcher
 *	wait again MS     the wait ends and begins anew, over and over, with work of
 *	                  the waiting thread in between: 3 burn : 1 own_work
 *	wait two MS       main waits for a worker that waits for another
 *	wait nested MS    within an operation, main waits for a chain that it runs itself,
 *	                  and within that for the worker: its stack waits twice
 *	wait direct MS    the same, and its dispatcher itself waits first
 *
 * Thread of the worker:  worker;pool_loop;job;burn
 * Async, pool:           main;request;ask;hop_001;hop_002;--;job;burn
 */
#include "hops.h"

#define CHAIN 3

static struct turn turn;
static struct weft_frame chain[CHAIN], second[CHAIN];
static long rounds = 1L << 60; /* of burn(), each time that the chain runs */

FN void burn(void)
{
	spin(360);
}

FN void own_work(void)
{
	spin_exactly(120 * rounds);
}

FN void job(void)
{
	for (long i = 0; i < rounds; i++)
		burn();
	AFTER();
}

/* Runs the chain whenever it is its turn. */
FN void pool_loop(void)
{
	struct weft_entry entry;

	weft_root_enter(&entry, NULL);
	for (;;) {
		turn_wait(&turn, 1);
		weft_frame_resume(&entry.root, &chain[CHAIN - 1]);
		job();
		weft_frame_suspend(&entry.root, &chain[CHAIN - 1]);
		turn_give(&turn, 0);
	}
	weft_root_leave(&entry);
}

FN void *worker(void *arg)
{
	pool_loop();
	return arg;
}

/* The one who waits. */
FN void ask(void)
{
	struct weft_wait wait;

	weft_wait_begin(&wait);
	hops_chain(chain, CHAIN, 0, &wait.frame);
	chain[0].ip = WEFT_HERE();
	turn_give(&turn, 1);
	turn_wait(&turn, 0);
	weft_wait_end(&wait);
}

FN void request(void)
{
	for (;;) {
		ask();
		own_work();
		rounds = uneven() / 2;
	}
}

/* An operation, with a chain of two below it. */
FN void outer_op(void)
{
	request();
	AFTER();
}

FN void outer_loop(void)
{
	struct weft_frame frames[2];

	WEFT_ROOT_SCOPE(hops_chain(frames, 2, 10, NULL));
	outer_op();
}

/* A worker that waits in turn: its own operation is the second chain. */
FN void middle_op(void)
{
	request();
	AFTER();
}

FN void middle_loop(void)
{
	WEFT_ROOT_SCOPE(&second[CHAIN - 1]);
	middle_op();
}

FN void *middle(void *arg)
{
	middle_loop();
	return arg;
}

FN void ask_middle(void)
{
	struct weft_wait wait;

	weft_wait_begin(&wait);
	hops_chain(second, CHAIN, 20, &wait.frame);
	second[0].ip = WEFT_HERE();
	work_thread(middle, NULL);
	park();
	weft_wait_end(&wait);
}

FN void ask_itself(void)
{
	struct weft_wait wait;

	weft_wait_begin(&wait);
	hops_chain(second, CHAIN, 20, &wait.frame);
	second[0].ip = WEFT_HERE();
	middle_loop();
	weft_wait_end(&wait);
}

FN void nested_op(void)
{
	ask_itself();
	AFTER();
}

FN void nested_loop(bool is_direct)
{
	struct weft_frame frames[2];

	WEFT_ROOT_SCOPE(hops_chain(frames, 2, 10, NULL));
	if (is_direct)
		ask_itself();
	else
		nested_op();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return work_usage(argv[0], "pool|under|again|two|nested|direct MS");
	work_lifetime(argv[2]);
	if (!strcmp(argv[1], "again")) {
		rounds = uneven() / 2;
		work_one_cpu();
	}
	work_thread(worker, NULL);
	work_ready();
	if (!strcmp(argv[1], "two"))
		ask_middle();
	else if (!strcmp(argv[1], "under"))
		outer_loop();
	else if (!strcmp(argv[1], "nested") || !strcmp(argv[1], "direct"))
		nested_loop(!strcmp(argv[1], "direct"));
	else
		request();
	return 2;
}
