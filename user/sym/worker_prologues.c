// SPDX-License-Identifier: BSD-2-Clause
/* Whether a file keeps frame pointers, asked of the parse worker. */
#include "sym/worker_parts.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

/* Until the answer, of which nothing is believed that can't be. */
static int recv_guess(struct worker *worker, int64_t until_ms, struct frame_pointers *ret)
{
	for (;;) {
		struct wire_answer answer;
		ssize_t n = wire_recv(worker->sock, &answer, sizeof(answer), NULL,
				      MSG_DONTWAIT);

		if (n == -EAGAIN && worker_now_ms() >= until_ms)
			return -ETIMEDOUT;
		if (n == -EAGAIN) {
			worker_wait(worker, POLLIN, until_ms);
			continue;
		}
		if (n != (ssize_t)sizeof(answer) || answer.kind != WIRE_DONE ||
		    answer.count > PROLOGUES_MOST || answer.kept > answer.count)
			return -EPROTO;
		if (!answer.err)
			*ret = (struct frame_pointers){ answer.count, answer.kept };
		return answer.err ? wire_error(answer.err) : 0;
	}
}

int worker_prologues(struct worker *worker, int fd, int deadline_ms,
		     struct frame_pointers *ret)
{
	const struct wire_request request = { .kind = WIRE_PROLOGUES };
	int64_t until_ms = worker_now_ms() + deadline_ms;
	int err = wire_send(worker->sock, &request, sizeof(request), fd, MSG_DONTWAIT);

	worker->counts.requests++;
	if (!err)
		err = recv_guess(worker, until_ms, ret);
	if (!err)
		return 0;
	worker->counts.failed++;
	if (err == -ETIMEDOUT || err == -EPROTO || err == -EPIPE)
		worker_restart(worker);
	return fail_errno(err, "the worker failed on a file");
}
