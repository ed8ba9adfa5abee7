// SPDX-License-Identifier: BSD-2-Clause
/* Names from the parse worker: one request at a time, until a deadline. */
#include "worker/worker_parts.h"

#include "base/error.h"
#include "base/name.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRS_IN_MESSAGE (WIRE_BYTES_USUALLY / sizeof(uint64_t))

/* The places of one address, as they come. */
struct placing {
	inline_sink sink;
	uint32_t index;
	size_t n;
	struct inline_place places[INLINES_MAX + 1];
	size_t name_at[INLINES_MAX + 1], file_at[INLINES_MAX + 1]; /* in text */
};

struct asking {
	struct worker *worker;
	const struct name_request *request;
	int64_t until_ms;
	name_sink sink;
	struct placing *placing; /* for NAMES_PLACES */
	void *arg;
	int sink_err;
	size_t base; /* of this request's addresses among the caller's */
	size_t n;
	unsigned char *seen; /* one for each address */
	struct str text;     /* clean, of the name or the places at hand */
};

static int send_until(struct asking *ask, const void *bytes, size_t n, int fd)
{
	struct worker *worker = ask->worker;

	for (;;) {
		int err = wire_send(worker->sock, bytes, n, fd, MSG_DONTWAIT);

		if (err != -EAGAIN && err != -ETOOMANYREFS && err != -ENOBUFS)
			return err;
		if (worker_now_ms() >= ask->until_ms)
			return -ETIMEDOUT;
		worker_wait(worker, POLLOUT, ask->until_ms);
	}
}

static int send_request(struct asking *ask, const uint64_t *addrs)
{
	const struct wire_request request = { WIRE_NAMES, ask->request->source, ask->n };
	int err = send_until(ask, &request, sizeof(request), ask->request->fd);

	for (size_t at = 0; !err && at < ask->n; at += ADDRS_IN_MESSAGE) {
		size_t n = ask->n - at;

		if (n > ADDRS_IN_MESSAGE)
			n = ADDRS_IN_MESSAGE;
		err = send_until(ask, addrs + at, n * sizeof(*addrs), -1);
	}
	return err;
}

/* One record: how many bytes it takes, or 0 when it is none. */
static size_t take_name(struct asking *ask, const unsigned char *bytes, size_t n)
{
	struct wire_name head;
	size_t padded;

	if (n < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	padded = ((size_t)head.bytes + 7) & ~(size_t)7;
	if (!head.bytes || head.bytes >= NAME_BYTES_MAX || padded > n - sizeof(head) ||
	    head.index >= ask->n || ask->seen[head.index])
		return 0;
	ask->seen[head.index] = 1;
	str_clear(&ask->text);
	name_add(&ask->text, (const char *)bytes + sizeof(head), head.bytes);
	if (ask->text.failed)
		ask->sink_err = str_error(&ask->text);
	else if (ask->text.n && ask->sink_err >= 0)
		ask->sink_err = ask->sink(ask->arg, ask->base + head.index, ask->text.s,
					  head.start);
	return sizeof(head) + padded;
}

/* Does a record go on with what came before it? */
static bool fits(const struct asking *ask, const struct wire_place *head)
{
	const struct placing *placing = ask->placing;

	_Static_assert(UINT16_MAX < NAME_BYTES_MAX, "name_bytes needs no look");
	if (head->file_bytes >= WIRE_FILE_BYTES || head->depth != placing->n ||
	    head->depth > INLINES_MAX || head->index >= ask->n)
		return false;
	return head->depth ? head->index == placing->index : !ask->seen[head->index];
}

static size_t add_text(struct asking *ask, const char *text, size_t n)
{
	size_t at = ask->text.n;

	name_add(&ask->text, text, n);
	str_add_char(&ask->text, '\0');
	return at;
}

/* All places of an address are there. */
static int pass_places(struct asking *ask)
{
	struct placing *placing = ask->placing;
	size_t n = placing->n;

	placing->n = 0;
	if (ask->text.failed)
		return str_error(&ask->text);
	for (size_t i = 0; i < n; i++) {
		placing->places[i].name = ask->text.s + placing->name_at[i];
		placing->places[i].file = ask->text.s + placing->file_at[i];
	}
	return placing->sink(ask->arg, ask->base + placing->index, placing->places, n);
}

/* As take_name(). */
static size_t take_place(struct asking *ask, const unsigned char *bytes, size_t n)
{
	struct placing *placing = ask->placing;
	struct wire_place head;
	const char *text = (const char *)bytes + sizeof(head);
	size_t padded, i;

	if (n < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	padded = ((size_t)head.name_bytes + head.file_bytes + sizeof(head) + 7) &
		 ~(size_t)7;
	if (padded > n || !fits(ask, &head))
		return 0;
	if (!head.depth)
		str_clear(&ask->text);
	i = placing->n++;
	placing->index = head.index;
	ask->seen[head.index] = 1;
	placing->places[i].line = head.line;
	placing->name_at[i] = add_text(ask, text, head.name_bytes);
	placing->file_at[i] = add_text(ask, text + head.name_bytes, head.file_bytes);
	if (head.is_last && ask->sink_err >= 0)
		ask->sink_err = pass_places(ask);
	if (head.is_last)
		placing->n = 0;
	return padded;
}

static int take_names(struct asking *ask, const union wire_buffer *buf, size_t n)
{
	size_t at = sizeof(buf->head);

	if (!buf->head.count)
		return -EPROTO;
	for (uint32_t i = 0; i < buf->head.count; i++) {
		size_t used = ask->placing ? take_place(ask, buf->bytes + at, n - at)
					   : take_name(ask, buf->bytes + at, n - at);

		if (!used)
			return -EPROTO;
		at += used;
	}
	return at == n ? 0 : -EPROTO;
}

static bool is_done(const union wire_buffer *buf, ssize_t n)
{
	return n == (ssize_t)sizeof(buf->head) && buf->head.kind == WIRE_DONE;
}

/* Until DONE: its error is *ret. Anything negative returned is ours. */
static int recv_names(struct asking *ask, int *ret)
{
	union wire_buffer *buf = &ask->worker->buf;
	uint32_t kind = ask->placing ? WIRE_PLACED : WIRE_NAMED;

	for (;;) {
		ssize_t n = wire_recv(ask->worker->sock, buf, sizeof(*buf), NULL,
				      MSG_DONTWAIT);
		int err = -EPROTO;

		if (worker_now_ms() >= ask->until_ms && !is_done(buf, n))
			return -ETIMEDOUT;
		if (n == -EAGAIN) {
			worker_wait(ask->worker, POLLIN, ask->until_ms);
			continue;
		}
		if (n <= 0)
			return -EPIPE;
		if (n >= (ssize_t)sizeof(buf->head) && buf->head.kind == kind)
			err = take_names(ask, buf, (size_t)n);
		if (is_done(buf, n)) {
			*ret = buf->head.err ? wire_error(buf->head.err) : 0;
			return 0;
		}
		if (err)
			return err;
	}
}

/* One request's worth. A parser that was found dead, not by this file's doing,
 * is started anew once. */
static int ask_some(struct asking *ask, const uint64_t *addrs)
{
	int answer = 0, err = send_request(ask, addrs);

	if (err == -EPIPE || err == -ECONNRESET || ask->worker->sock < 0) {
		err = worker_restart(ask->worker);
		if (!err)
			err = send_request(ask, addrs);
	}
	if (err == -EBADF)
		return fail(err, "names were asked of a file that is not open");
	if (!err)
		err = recv_names(ask, &answer);
	if (err) {
		worker_restart(ask->worker);
		return fail_errno(err, "the worker failed on a file");
	}
	return answer ? fail_errno(answer, "a file's symbols cannot be read") : 0;
}

/* Each has its own deadline, and who is named now is not to pay for it. */
static void finish_scans(struct worker *worker)
{
	for (;;) {
		worker_pump(worker, false);
		if (worker->answered == worker->sent)
			return;
		worker_wait(worker, POLLIN, INT64_MAX);
	}
}

static int ask_all(struct asking *ask)
{
	const uint64_t *addrs = ask->request->addrs;
	size_t n = ask->request->n;
	int err = 0;

	for (size_t at = 0; !err && at < n && ask->sink_err >= 0; at += ask->n) {
		ask->base = at;
		ask->n = n - at < WIRE_ADDRS_MAX ? n - at : WIRE_ADDRS_MAX;
		memset(ask->seen, 0, ask->n);
		if (ask->placing)
			ask->placing->n = 0;
		err = ask_some(ask, addrs + at);
	}
	return err;
}

/* ask: worker, request and sinks are set. */
static int ask_for(struct asking *ask)
{
	size_t n = ask->request->n;
	int64_t begun_ms;
	AUTO_FREE unsigned char *seen =
		malloc(n < WIRE_ADDRS_MAX ? n + 1 : WIRE_ADDRS_MAX);
	int err;

	if (!seen)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	finish_scans(ask->worker);
	begun_ms = worker_now_ms();
	ask->seen = seen;
	ask->until_ms =
		begun_ms + worker_patience_ms(ask->worker, ask->request->deadline_ms);
	ask->worker->counts.requests++;
	pace_hurry(&ask->worker->pace, true);
	err = ask_all(ask);
	pace_hurry(&ask->worker->pace, false);
	str_free(&ask->text);
	if (err == -ENOMEM) /* the parser's own limit, reached by one file; not ours */
		err = fail(-EFBIG, "a file needs more memory than its parser may have");
	ask->worker->counts.failed += err != 0;
	if (err == -ETIMEDOUT)
		ask->worker->late_ms += worker_now_ms() - begun_ms;
	return err ? err : ask->sink_err < 0 ? ask->sink_err : 0;
}

int worker_names(struct worker *worker, const struct name_request *request,
		 name_sink sink, void *arg)
{
	struct asking ask = {
		.worker = worker,
		.request = request,
		.sink = sink,
		.arg = arg,
	};

	return ask_for(&ask);
}

int worker_places(struct worker *worker, const struct name_request *request,
		  inline_sink sink, void *arg)
{
	AUTO_FREE struct placing *placing = calloc(1, sizeof(*placing));
	struct asking ask = {
		.worker = worker,
		.request = request,
		.placing = placing,
		.arg = arg,
	};

	if (!placing)
		return fail(-ENOMEM, "no memory for places");
	placing->sink = sink;
	return ask_for(&ask);
}
