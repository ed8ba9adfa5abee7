// SPDX-License-Identifier: BSD-2-Clause
#include "publish/collect.h"

#include "base/clock.h"
#include "base/signals.h"

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

/* Each answer makes room for another question. */
static int take_all(const struct collect_from *from)
{
	int left;

	if (!from->tables)
		return take(from);
	tables_pump(from->tables);
	do
		left = take(from);
	while (left >= 0 && tables_pump(from->tables));
	return left < 0 ? left : left + (int)tables_queued(from->tables);
}

/* Until when, as it stands. */
static uint64_t end_of(const struct collect_from *from, const struct wait_limits *limits,
		       uint64_t begun_ns)
{
	bool longer = limits->roots_ms > limits->all_ms && from->tables &&
		      tables_await_roots(from->tables);

	return begun_ns +
	       (uint64_t)(longer ? limits->roots_ms : limits->all_ms) * 1000000;
}

int collect_answers(const struct collect_from *from, const struct wait_limits *limits)
{
	uint64_t begun_ns = clock_now_ns();

	for (;;) {
		bool opens_more = from->tables && tables_open(from->tables);
		int left = take_all(from);
		uint64_t now = clock_now_ns(), until = end_of(from, limits, begun_ns);
		struct pollfd fds[] = {
			{ .fd = worker_fd(from->worker), .events = POLLIN },
			{ .fd = from->large_file_worker
					? worker_fd(from->large_file_worker)
					: -1,
			  .events = POLLIN },
		};

		left += left >= 0 && opens_more;
		if (left <= 0 || now >= until || signals_pend())
			return left;
		if (opens_more)
			continue;
		poll(fds, 2,
		     until - now < SLICE_MS * 1000000ULL
			     ? (int)((until - now) / 1000000) + 1
			     : SLICE_MS);
	}
}
