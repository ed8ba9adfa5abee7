/* SPDX-License-Identifier: BSD-2-Clause */
/* libevent: the frame lies in what the event's argument points to. */
#include "request.h"

#include <event2/event.h>

struct action {
	struct weft_frame frame;
	struct event *event;
	void (*call)(struct action *);
};

static void action_fired(evutil_socket_t fd, short what, void *arg)
{
	struct action *action = arg;

	(void)fd, (void)what;
	WEFT_ROOT_SCOPE(&action->frame);
	action->call(action);
}

#define action_start(action, what)                                                       \
	(weft_frame_mark(&(action)->frame), (action)->call = (what),                     \
	 event_active((action)->event, EV_TIMEOUT, 0))

static struct action accepted, parsed, answered;

static void answer_one(struct action *action)
{
	(void)action;
	request_answer();
}

static void parse_one(struct action *action)
{
	(void)action;
	action_start(&answered, answer_one);
}

static void accept_one(struct action *action)
{
	(void)action;
	action_start(&parsed, parse_one);
}

static void action_make(struct event_base *base, struct action *action)
{
	action->event = event_new(base, -1, 0, action_fired, action);
}

int main(int argc, char **argv)
{
	struct event_base *base = event_base_new();

	action_make(base, &accepted);
	action_make(base, &parsed);
	action_make(base, &answered);
	for (int n = requests(argc, argv); n > 0; n--) {
		action_start(&accepted, accept_one);
		event_base_dispatch(base);
	}
	return 0;
}
