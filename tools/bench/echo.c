/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each request is read by one callback and answered by another, which that one
 * queues. The loop enters its root once and says what runs. Built with
 * -DWEFT_DISABLED, nobody is told.
 */
#include "echo.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static struct connection *queued;
static long answers;

static void answer(struct connection *connection)
{
	if (write(connection->fd, connection->bytes, (size_t)connection->n) < 0)
		_exit(1);
	answers++;
}

static void on_readable(struct connection *connection)
{
	connection->n = read(connection->fd, connection->bytes, BYTES);
	if (connection->n <= 0)
		_exit(0);
	connection->write = answer;
	weft_frame_mark(&connection->writes);
	connection->next = queued;
	queued = connection;
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double SERVE(int epoll, long requests)
{
	struct epoll_event events[CONNECTIONS];
	struct weft_entry entry;
	double began = cpu_s();

	answers = 0;
	weft_root_enter(&entry, NULL);
	while (answers < requests) {
		int n = epoll_wait(epoll, events, CONNECTIONS, -1);

		for (int i = 0; i < n; i++) {
			struct connection *connection = events[i].data.ptr;

			weft_frame_resume(&entry.root, &connection->reads);
			on_readable(connection);
			weft_frame_resume(&entry.root, NULL);
		}
		while (queued) {
			struct connection *connection = queued;

			queued = connection->next;
			weft_frame_resume(&entry.root, &connection->writes);
			connection->write(connection);
			weft_frame_resume(&entry.root, NULL);
		}
	}
	weft_root_leave(&entry);
	return (cpu_s() - began) / (double)answers;
}
