/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GLib: each source has a closure of its own, which is freed with the source. A
 * frame has to stay while what it asked for may run, so closures are counted.
 */
#include "request.h"

#include <glib.h>

struct closure {
	struct weft_frame frame;
	struct closure *asker; /* whose frame is our parent */
	int users;	       /* its source, and who was asked for by it */
	GSourceFunc call;
	gpointer data;
};

static __thread struct closure *running;

static void closure_drop(gpointer arg)
{
	struct closure *closure = arg, *asker;

	for (; closure && --closure->users == 0; closure = asker) {
		asker = closure->asker;
		g_free(closure);
	}
}

static gboolean closure_fired(gpointer arg)
{
	struct closure *closure = arg, *outer = running;
	gboolean goes_on;

	WEFT_ROOT_SCOPE(&closure->frame);
	running = closure;
	goes_on = closure->call(closure->data);
	running = outer;
	return goes_on;
}

#define idle_add(call, data) closure_add(call, data, WEFT_HERE())

static void closure_add(GSourceFunc call, gpointer data, void *place)
{
	struct closure *closure = g_new0(struct closure, 1);

	closure->call = call;
	closure->data = data;
	closure->users = 1;
	closure->asker = running;
	if (running)
		running->users++;
	weft_frame_init(&closure->frame, running ? &running->frame : weft_frame_asker(),
			place);
	g_idle_add_full(G_PRIORITY_DEFAULT, closure_fired, closure, closure_drop);
}

static gboolean answer_one(gpointer loop)
{
	request_answer();
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static gboolean parse_one(gpointer loop)
{
	idle_add(answer_one, loop);
	return G_SOURCE_REMOVE;
}

static gboolean accept_one(gpointer loop)
{
	idle_add(parse_one, loop);
	return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);

	for (int n = requests(argc, argv); n > 0; n--) {
		idle_add(accept_one, loop);
		g_main_loop_run(loop);
	}
	g_main_loop_unref(loop);
	return 0;
}
