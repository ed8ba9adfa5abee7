/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool of threads: who submits a job, and who waits for it, may be elsewhere. */
#include "request.h"

#include <pthread.h>

struct job {
	struct weft_frame frame;
	void (*call)(struct job *);
	struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *first;
static int unfinished;

static void job_push(struct job *job)
{
	pthread_mutex_lock(&lock);
	job->next = first;
	first = job;
	unfinished++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

#define job_submit(job, what)                                                            \
	(weft_frame_mark(&(job)->frame), (job)->call = (what), job_push(job))

static struct job *job_take(void)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&changed, &lock);
	job = first;
	first = job->next;
	pthread_mutex_unlock(&lock);
	return job;
}

static void job_run(struct job *job)
{
	WEFT_ROOT_SCOPE(&job->frame);
	job->call(job);
}

static void *worker(void *arg)
{
	for (;;) {
		job_run(job_take());
		pthread_mutex_lock(&lock);
		unfinished--;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void pool_wait(void)
{
	pthread_mutex_lock(&lock);
	while (unfinished)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static struct job accepted, parsed, answered;

static void answer_one(struct job *job)
{
	(void)job;
	request_answer();
}

static void parse_one(struct job *job)
{
	(void)job;
	job_submit(&answered, answer_one);
}

static void accept_one(struct job *job)
{
	(void)job;
	job_submit(&parsed, parse_one);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int n = requests(argc, argv); n > 0; n--) {
		struct weft_wait wait;

		weft_wait_begin(&wait); /* this thread stands still for it */
		weft_frame_init(&accepted.frame, &wait.frame, WEFT_HERE());
		accepted.call = accept_one;
		job_push(&accepted);
		pool_wait();
		weft_wait_end(&wait);
	}
	return 0;
}
