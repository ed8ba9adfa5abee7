/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in the application (tests/workloads/app) time can be spent, as data. A place
 * is a coroutine, with those who wait for it and the thread that runs it. Paths are
 * written as path.h has them.
 */
#ifndef TRUTH_APP_PLACES_H
#define TRUTH_APP_PLACES_H

#include <stddef.h>

struct app_place {
	const char *name;    /* the coroutine */
	const char *callers; /* the async view, from the start to whoever comes before
				the awaiter */
	const char *awaiter; /* the coroutine that called it and gets the thread back;
				NULL: none */
	const char *host;    /* the thread view, down to the dispatcher */
	const char *outer;   /* the async view down to there, while the dispatcher's root
				is empty; NULL: as host */
	const char *leaves;  /* a|b: what burns here; NULL: nothing */
	const char *makes;   /* a|b: coroutines that are made and destroyed here */
	const char *holds;   /* a|b: those destroyed with them */
	const char *acts;    /* what else is called, a space between */
	const char *yields;  /* what is called and stops it in its course: the first
				function of each while it runs, all once it doesn't */
};

/* What runs without any operation: both views are the same. */
struct app_plain {
	const char *path, *makes, *holds, *acts;
};

extern const struct app_place app_places[];
extern const size_t n_app_places;
extern const struct app_plain app_plains[];
extern const size_t n_app_plains;

/* As callers: any compiler's name of a coroutine's body. */
#define B(name) #name ".actor|" #name ".resume"

#define DRIVER	    "main|second_thread;play"
#define HERE(scene) DRIVER ";--;" scene ";wait_here"
#define RUNS(scene) DRIVER ";" scene ";wait_here;resume_with_root"

#define WAITS_HERE                                                                       \
	"wait_here;here|current_holder|sys_call "                                        \
	"wait_here;resume_with_root;current_holder "
#define WAITED "finish_task;end_wait;sys_call "

#endif
