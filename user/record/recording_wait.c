// SPDX-License-Identifier: BSD-2-Clause
/* What a recording waits for, and for how long. */
#include "base/clock.h"
#include "base/error.h"
#include "record/recording.h"

#include <errno.h>

/* Most of what a look around costs while nothing happens is to wake up for it. But a
 * process that has just begun may be sampled once and end: it is looked at meanwhile. */
#define PUMP_MS	   50
#define CALM_MS	   250
#define STIRRED_NS SECOND_NS
#define REST_MS	   10
#define AT_ONCE	   8 /* times in AT_ONCE_NS that it is heard without a rest */
#define AT_ONCE_NS 100000000ULL
#define SOON_MS	   1 /* while somebody runs of whom little is known */

#define SAMPLER_FD 0 /* of recording_fds() */

void recording_fds(const struct recording *r, struct pollfd fds[RECORDING_FDS])
{
	const int of[RECORDING_FDS] = {
		[SAMPLER_FD] = sampler_fd(r->sampler),
		worker_fd(r->worker),
		r->large_file_worker ? worker_fd(r->large_file_worker) : -1,
	};

	for (size_t i = 0; i < RECORDING_FDS; i++)
		fds[i] = (struct pollfd){ .fd = of[i], .events = POLLIN };
}

static bool was_stirred(const struct recording *r)
{
	return clock_now_ns() - r->stirred_ns < STIRRED_NS;
}

int recording_pace_ms(const struct recording *r)
{
	if (publisher_is_behind(r->publisher))
		return 0;
	if (publisher_is_unsure(r->publisher))
		return SOON_MS;
	return was_stirred(r) ? PUMP_MS : CALM_MS;
}

/* A program by itself is heard of at once, however soon it ends: else nobody could open
 * its file. */
static void note_told(struct recording *r, bool was_told)
{
	uint64_t now = clock_now_ns();

	if (now - r->told_ns >= AT_ONCE_NS) {
		r->told_ns = now;
		r->n_told = 0;
	}
	r->n_told += was_told;
	r->was_told_much = was_told && r->n_told > AT_ONCE;
}

/* Ticks find out by themselves what is mapped, and nobody waits for what the kernel says
 * of it. Most of what begins and ends all the time has ended a moment later, and costs
 * next to nothing. */
static bool may_rest(const struct recording *r)
{
	return r->was_told_much && r->ticks_find_files && was_stirred(r) &&
	       !publisher_is_behind(r->publisher) && !recording_is_of_some(r);
}

int recording_wait(struct recording *r, struct pollfd *fds, size_t n, int most_ms)
{
	bool rests = most_ms > 0 && may_rest(r);
	int ready;

	if (rests) {
		fds[SAMPLER_FD].fd = -1;
		ready = poll(fds, n, REST_MS);
		fds[SAMPLER_FD].fd = sampler_fd(r->sampler);
		if (ready > 0)
			return 0;
	}
	if (poll(fds, n, most_ms) < 0 && errno != EINTR)
		return fail_errno(-errno, "poll");
	note_told(r, fds[SAMPLER_FD].revents);
	return 0;
}
