/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop written by hand over epoll: timers and, behind them, requests. */
#include "request.h"

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct watch {
	struct weft_frame frame; /* who asked to be called */
	void (*call)(struct watch *);
	int fd;
};

static int epoll;

/* marked where it is used, so that the caller's line is shown */
#define watch_start(watch, fd, call)                                                     \
	(weft_frame_mark(&(watch)->frame), watch_add(watch, fd, call))

static void watch_add(struct watch *watch, int fd, void (*call)(struct watch *))
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT,
				     .data.ptr = watch };

	watch->call = call;
	watch->fd = fd;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void loop_turn(void)
{
	struct epoll_event events[16];
	int n = epoll_wait(epoll, events, 16, -1);

	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		WEFT_ROOT_SCOPE(&watch->frame); /* what runs now is shown under it */
		watch->call(watch);
	}
}

static int soon(void)
{
	struct itimerspec when = { .it_value.tv_nsec = 1000 };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	timerfd_settime(fd, 0, &when, NULL);
	return fd;
}

static struct watch accepted, parsed, answered;

static void answer_one(struct watch *watch)
{
	close(watch->fd);
	request_answer();
}

static void parse_one(struct watch *watch)
{
	close(watch->fd);
	watch_start(&answered, soon(), answer_one);
}

static void accept_one(struct watch *watch)
{
	close(watch->fd);
	watch_start(&parsed, soon(), parse_one);
}

int main(int argc, char **argv)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int n = requests(argc, argv); n > 0; n--) {
		watch_start(&accepted, soon(), accept_one);
		for (int turn = 0; turn < 3; turn++)
			loop_turn();
	}
	return 0;
}
