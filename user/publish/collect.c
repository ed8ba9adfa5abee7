// SPDX-License-Identifier: BSD-2-Clause
#include "publish/collect.h"

#include "base/clock.h"

#include <poll.h>

#define SLICE_MS 100 /* after which overdue ones are looked for */

static int take(const struct collect_from *from)
{
	int left = files_collect(from->files, 0), large;

	if (left < 0 || !from->large_file_worker)
		return left;
	large = worker_collect(from->large_file_worker, 0, NULL, NULL);
	return large < 0 ? large : left + large;
}

int collect_answers(const struct collect_from *from, int wait_ms)
{
	uint64_t until = clock_now_ns() + (uint64_t)wait_ms * 1000000;

	for (;;) {
		int left = take(from);
		uint64_t now = clock_now_ns();
		struct pollfd fds[] = {
			{ .fd = worker_fd(from->worker), .events = POLLIN },
			{ .fd = from->large_file_worker
					? worker_fd(from->large_file_worker)
					: -1,
			  .events = POLLIN },
		};

		if (left <= 0 || now >= until)
			return left;
		poll(fds, 2,
		     until - now < SLICE_MS * 1000000ULL
			     ? (int)((until - now) / 1000000) + 1
			     : SLICE_MS);
	}
}
