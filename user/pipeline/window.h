/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was sampled from one moment to another, complete in itself: stacks, their
 * frames, whose they were, when, and the counts; all of it freed at once. A
 * pipeline's samples go to one window, then to the next; a window that gets no more
 * can be named and written while the next one fills.
 *
 * Of what it names only modules live elsewhere. It holds those of its frames, so
 * that they keep their numbers and files until it is freed.
 */
#ifndef WEFT_PIPELINE_WINDOW_H
#define WEFT_PIPELINE_WINDOW_H

#include "core/aggregator.h"
#include "core/module.h"
#include "proc/process.h"

struct window;

/* modules is borrowed and outlives the window. */
int window_new(struct window **ret, struct module_table *modules);
void window_free(struct window *window);
DEFINE_FREEP(window)

/* Counts a sample, which was checked. process: whose it is; NULL: nothing is known. */
int window_add(struct window *window, const struct sample_rec *rec,
	       const struct process *process);

/* Borrowed. */
struct aggregator *window_aggregator(const struct window *window);

#endif
