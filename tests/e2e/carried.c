/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carried   work that requests asked for, on threads of its own: its chain carries the
 *           request's trace (weft/async.h), and no thread publishes one but where it says
 *
 *	works_for_1   asked for by request 1
 *	works_for_2   asked for by what request 2 asked for, from another chain that
 *	              works for 3 up there
 *	works_for_4   asked for by request 1, on a thread that publishes 4 itself
 *	turns_to_5    awaited by a thread that works for 5
 *	says_inner    a loop within request 1's, which nobody asked for
 *	nothing       nobody asked for it
 *
 * It runs until it is killed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/async.h>

struct record {
	unsigned char trace[16], span[8];
	unsigned char valid, flags;
	uint16_t attributes_bytes;
};

__thread struct record *volatile otel_thread_ctx_v1;

#define WORK(name)                                                                       \
	__attribute__((noipa, used)) static void name(void)                              \
	{                                                                                \
		for (volatile unsigned int i = 0; i < 300000; i++)                       \
			;                                                                \
	}
WORK(works_for_1)
WORK(works_for_2)
WORK(works_for_4)
WORK(turns_to_5)
WORK(says_inner)
WORK(nothing)

static struct record record_of(int k)
{
	struct record record = { .valid = 1 };

	memset(record.trace, k * 0x11, sizeof(record.trace));
	memset(record.span, k << 4 | 0xa, sizeof(record.span));
	return record;
}

struct job {
	struct weft_frame frame;
	struct weft_context context;
	void (*work)(void);
};

static struct job *new_job(void (*work)(void))
{
	struct job *job = calloc(1, sizeof(*job));

	job->work = work;
	return job;
}

static void carry(struct job *job, int k)
{
	struct record record = record_of(k);

	if (k % 2)
		weft_frame_carry(&job->frame, &job->context, &record);
	else
		weft_frame_carry_ids(&job->frame, &job->context, record.trace,
				     record.span);
}

/* That job asks for another one. */
static struct job *ask(struct job *by, void (*work)(void))
{
	struct job *job = new_job(work);

	WEFT_ROOT_SCOPE(&by->frame);
	weft_frame_mark(&job->frame);
	return job;
}

static struct job *new_request(int k)
{
	struct job *job = new_job(NULL);

	weft_frame_mark(&job->frame);
	if (k)
		carry(job, k);
	return job;
}

__attribute__((noipa)) static void run_once(struct job *job)
{
	WEFT_ROOT_SCOPE(&job->frame);
	job->work();
}

static void *run(void *arg)
{
	for (;;)
		run_once(arg);
	return NULL;
}

static void *run_published(void *arg)
{
	static struct record record;

	record = record_of(4);
	otel_thread_ctx_v1 = &record;
	return run(arg);
}

/* A loop in the loop, whose operation nobody asked for. */
static void run_inner(void)
{
	static struct job inner = { .work = says_inner };

	run_once(&inner);
}

static void begin(void *(*thread)(void *), void *arg)
{
	pthread_t of;

	if (pthread_create(&of, NULL, thread, arg))
		exit(1);
}

/* Its thread works for 5 and blocks until another one is done, which is never. */
static void wait_for_work(void)
{
	struct weft_wait wait;
	struct job *awaited = new_job(turns_to_5);

	weft_wait_begin(&wait);
	weft_frame_init(&awaited->frame, &wait.frame, WEFT_HERE());
	begin(run, awaited);
	for (;;)
		pause();
	weft_wait_end(&wait);
}

int main(void)
{
	struct job *job = ask(new_request(3), NULL);

	begin(run, ask(new_request(1), works_for_1));
	carry(job, 2); /* nearer than 3 */
	begin(run, ask(job, works_for_2));
	begin(run_published, ask(new_request(1), works_for_4));
	begin(run, ask(new_request(5), wait_for_work));
	begin(run, ask(new_request(1), run_inner));
	begin(run, ask(new_request(0), nothing));
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
