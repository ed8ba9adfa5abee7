/* SPDX-License-Identifier: BSD-2-Clause */
/* libuv: the frame lies behind the handle, and one callback serves all timers. */
#include "request.h"

#include <uv.h>

struct timer {
	uv_timer_t handle; /* first, so that one pointer is both */
	struct weft_frame frame;
	void (*call)(struct timer *);
};

static void timer_fired(uv_timer_t *handle)
{
	struct timer *timer = (struct timer *)handle;

	WEFT_ROOT_SCOPE(&timer->frame);
	timer->call(timer);
}

#define timer_start(timer, ms, what)                                                     \
	(weft_frame_mark(&(timer)->frame), (timer)->call = (what),                       \
	 uv_timer_start(&(timer)->handle, timer_fired, (ms), 0))

static struct timer accepted, parsed, answered;

static void answer_one(struct timer *timer)
{
	(void)timer;
	request_answer();
}

static void parse_one(struct timer *timer)
{
	(void)timer;
	timer_start(&answered, 0, answer_one);
}

static void accept_one(struct timer *timer)
{
	(void)timer;
	timer_start(&parsed, 0, parse_one);
}

int main(int argc, char **argv)
{
	uv_timer_init(uv_default_loop(), &accepted.handle);
	uv_timer_init(uv_default_loop(), &parsed.handle);
	uv_timer_init(uv_default_loop(), &answered.handle);
	for (int n = requests(argc, argv); n > 0; n--) {
		timer_start(&accepted, 0, accept_one);
		uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	}
	return 0;
}
