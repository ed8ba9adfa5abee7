/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole application of coroutines: what its places (app_places.h) come to as
 * paths. While a coroutine runs, the async view is that of who waits for it and then
 * itself; between two of them it is the dispatcher's; and where one stops to run, its
 * root is empty and the view is the thread's, down to the next root.
 */
#include "app_places.h"
#include "judge.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define NESTED 12

/* Where the paths go. */
struct app {
	int (*allow)(struct judge *judge, enum view view, const char *path,
		     enum stack_class as);
	struct judge *judge;
	struct str text; /* of the path at hand */
	int err;	 /* the first that there was */
};

enum { IN_THREAD = 1 << VIEW_THREAD, IN_ASYNC = 1 << VIEW_ASYNC };

/* The text at hand is one, in those views. Later the text begins anew. */
static void tell(struct app *app, unsigned int views, enum stack_class as)
{
	if (!app->err)
		app->err = str_error(&app->text);
	for (int view = 0; view < N_VIEWS && !app->err; view++)
		if (views >> view & 1)
			app->err = app->allow(app->judge, view, app->text.s, as);
	str_clear(&app->text);
}

/* ";a.x*0-1|b.x" of "a|b" */
static void add_each(struct str *text, const char *names, size_t n, const char *suffix)
{
	while (n) {
		size_t len = strcspn(names, "| ");

		if (len > n)
			len = n;
		str_add_bytes(text, names, len);
		str_add(text, suffix);
		names += len + (len < n);
		n -= len + (len < n);
		if (n)
			str_add_char(text, '|');
	}
}

static void add_optional(struct str *text, const char *names, const char *suffix)
{
	if (!names)
		return;
	str_add_char(text, ';');
	add_each(text, names, strlen(names), suffix);
	str_add(text, "*0-1");
}

/* Coroutines made and destroyed below `below`; gcc's make them by their bodies. */
static void tell_made(struct app *app, unsigned int views, const char *below,
		      const char *makes, const char *holds)
{
	if (!makes)
		return;
	str_addf(&app->text, "%s;%s;frame_alloc;sys_call", below, makes);
	tell(app, views, CLASS_EXACT);
	str_addf(&app->text, "%s;%s;", below, makes);
	add_each(&app->text, makes, strlen(makes), ".actor");
	tell(app, views, CLASS_EXACT);
	str_add(&app->text, below);
	add_optional(&app->text, makes, ".destroy");
	add_optional(&app->text, makes, ".actor");
	add_optional(&app->text, holds, ".destroy");
	add_optional(&app->text, holds, ".actor");
	str_add(&app->text, ";frame_free;sys_call");
	tell(app, views, CLASS_EXACT);
}

/* Each of a list: whole, or the first function only. */
static void tell_steps(struct app *app, unsigned int views, const char *below,
		       const char *steps, bool first_only)
{
	while (steps && *steps) {
		size_t n = strcspn(steps, " ");
		size_t shown = first_only ? strcspn(steps, " ;") : n;

		str_addf(&app->text, "%s;%.*s", below, (int)shown, steps);
		tell(app, views, CLASS_EXACT);
		steps += n + strspn(steps + n, " ");
	}
}

/* What stands in a stack while the coroutine itself runs. */
static void add_body(struct str *text, const char *name)
{
	str_addf(text, "%s.actor|%s.actor.cold|%s.resume", name, name, name);
}

static void tell_thread(struct app *app, const struct app_place *place)
{
	AUTO_STR below = { 0 };

	str_addf(&below, "%s;", place->host);
	add_body(&below, place->name);
	if (place->leaves) {
		str_addf(&app->text, "%s;%s", below.s, place->leaves);
		tell(app, IN_THREAD, CLASS_EXACT);
	}
	tell_steps(app, IN_THREAD, below.s, place->acts, false);
	tell_steps(app, IN_THREAD, below.s, place->yields, false);
	tell_made(app, IN_THREAD, below.s, place->makes, place->holds);
}

/* While it runs. */
static void tell_running(struct app *app, const struct app_place *place)
{
	AUTO_STR below = { 0 }, callers = { 0 };

	str_add(&callers, place->callers);
	if (place->awaiter)
		str_addf(&callers, ";%s", place->awaiter);
	str_addf(&below, "%s;--;", callers.s);
	add_body(&below, place->name);
	if (place->leaves) {
		str_addf(&app->text, "%s;%s", below.s, place->leaves);
		tell(app, IN_ASYNC, CLASS_EXACT);
	}
	tell_steps(app, IN_ASYNC, below.s, place->acts, false);
	tell_steps(app, IN_ASYNC, below.s, place->yields, true);
	tell_made(app, IN_ASYNC, below.s, place->makes, place->holds);
	str_addf(&app->text, "%s;--;resume_with_root", callers.s);
	tell(app, IN_ASYNC, CLASS_EXACT);
}

/* From the store that says who runs to the jump that makes it so. */
static void tell_windows(struct app *app, const struct app_place *place)
{
	if (strstr(place->yields, "call_task")) {
		str_addf(&app->text, "%s%s%s;%s.actor|%s.resume;--;", place->callers,
			 place->awaiter ? ";" : "", place->awaiter ? place->awaiter : "",
			 place->name, place->name);
		add_body(&app->text, place->name);
		str_add(&app->text, ";call_task");
		tell(app, IN_ASYNC, CLASS_WINDOW);
	}
	if (place->awaiter) {
		str_addf(&app->text, "%s;--;", place->callers);
		add_body(&app->text, place->name);
		str_add(&app->text, ";finish_task|yield_task");
		tell(app, IN_ASYNC, CLASS_WINDOW);
	}
}

/* The root is empty: it has stopped, and its function is still there. */
static void tell_stopped(struct app *app, const struct app_place *place)
{
	AUTO_STR below = { 0 };

	str_addf(&below, "%s;", place->outer ? place->outer : place->host);
	add_body(&below, place->name);
	tell_steps(app, IN_ASYNC, below.s, place->yields, false);
}

static void tell_place(struct app *app, const struct app_place *place)
{
	tell_thread(app, place);
	tell_running(app, place);
	tell_stopped(app, place);
	tell_windows(app, place);
}

static void tell_plain(struct app *app, const struct app_plain *plain)
{
	str_add(&app->text, plain->path);
	tell(app, IN_THREAD | IN_ASYNC, CLASS_EXACT);
	tell_steps(app, IN_THREAD | IN_ASYNC, plain->path, plain->acts, false);
	tell_made(app, IN_THREAD | IN_ASYNC, plain->path, plain->makes, plain->holds);
}

/* Each waits for the next, on one thread. */
static void tell_nested(struct app *app)
{
	AUTO_STR callers = { 0 }, host = { 0 }, outer = { 0 };

	str_add(&callers, HERE("scene_nested"));
	str_add(&host, RUNS("scene_nested"));
	for (int i = 1; i <= NESTED; i++) {
		char name[16], next[16];
		bool last = i == NESTED;
		struct app_place place = {
			.name = name,
			.leaves = last ? "nest_end" : "nest_work",
			.makes = last ? NULL : next,
			.acts = last ? NULL : WAITS_HERE,
			.yields = WAITED,
		};

		snprintf(name, sizeof(name), "nest_%02d", i);
		snprintf(next, sizeof(next), "nest_%02d", i + 1);
		place.callers = callers.s;
		place.host = host.s;
		place.outer = outer.s;
		tell_place(app, &place);
		str_clear(&outer);
		str_addf(&callers, ";--;%s.actor|%s.resume;wait_here", name, name);
		str_addf(&outer, "%s;resume_with_root", callers.s);
		str_addf(&host, ";%s.actor|%s.resume;wait_here;resume_with_root", name,
			 name);
	}
}

static int tell_app(int (*allow)(struct judge *judge, enum view view, const char *path,
				 enum stack_class as),
		    struct judge *judge)
{
	struct app app = { .allow = allow, .judge = judge };

	for (size_t i = 0; i < n_app_places; i++)
		tell_place(&app, &app_places[i]);
	tell_nested(&app);
	for (size_t i = 0; i < n_app_plains; i++)
		tell_plain(&app, &app_plains[i]);
	str_free(&app.text);
	return app.err;
}

static const struct truth_case cases[] = {
	{
		.name = "app",
		.program = "app",
		.args = "all %m",
		.kinds = "gcc-O2 clang-O2 gcc-O3-omit clang-O2-omit",
		.breaks = "no-key|no-interval|wrong-truth",
		.tabled = true,
		.untimed = true,
		.ms = 3000,
		.more = tell_app,
		/* libgcc writes over its own frame as an exception is caught */
		.bounds = { { CLASS_WINDOW, .02 }, { CLASS_GAP, .002 } },
	},
};

const struct case_list cases_app = { cases, sizeof(cases) / sizeof(*cases) };
