// SPDX-License-Identifier: BSD-2-Clause
/* Names from the parse worker: one request at a time, until a deadline. */
#include "worker/worker_parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/name.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRS_IN_MESSAGE (PROTOCOL_BYTES_USUALLY / sizeof(uint64_t))

/* The locations of one address, as they come. */
struct locating {
	inline_sink sink;
	uint32_t index;
	size_t n;
	struct source_location locations[INLINES_MAX + 1];
	size_t name_at[INLINES_MAX + 1], file_at[INLINES_MAX + 1]; /* in text */
};

struct asking {
	struct worker *worker;
	const struct name_request *request;
	const struct inline_files *files; /* NULL: none */
	int patience_ms;		  /* by the parser's own time */
	struct worker_time time;
	name_sink sink;
	struct locating *locating; /* for NAMES_LOCATIONS */
	void *arg;
	int sink_err;
	size_t base; /* of this request's addresses among the caller's */
	size_t n;
	unsigned char *seen; /* one for each address */
	struct str text;     /* clean, of the name or the locations at hand */
};

#define STARVED_MS 1000 /* for a parser that gets no CPU, beyond its patience */

static int64_t passed_ns(const struct asking *ask)
{
	return (int64_t)(clock_now_ns() - ask->time.begun_ns);
}

/* What the parser took for this so far. */
static int64_t taken_ns(struct asking *ask)
{
	int64_t passed = passed_ns(ask), taken = passed;

	if (passed >= TIME_LOOK_MS * ONE_MS_NS)
		taken = (int64_t)worker_time_ns(&ask->time);
	passed -= STARVED_MS * ONE_MS_NS;
	return taken > passed ? taken : passed;
}

static bool is_late(struct asking *ask)
{
	int64_t patience_ns = ask->patience_ms * ONE_MS_NS;

	return passed_ns(ask) >= patience_ns && taken_ns(ask) >= patience_ns;
}

/* At least so often the parser is looked at, to tell what it waited for. */
static void wait_for_parser(struct asking *ask, short events)
{
	int64_t passed = passed_ns(ask) / ONE_MS_NS, left = ask->patience_ms - passed;

	if (passed >= TIME_LOOK_MS)
		worker_time_ns(&ask->time);
	worker_wait(ask->worker, events,
		    worker_now_ms() + (left < TIME_LOOK_MS ? TIME_LOOK_MS : left));
}

static int send_until(struct asking *ask, const void *bytes, size_t n, int fd)
{
	struct worker *worker = ask->worker;

	for (;;) {
		int err = protocol_send(worker->sock, bytes, n, fd, MSG_DONTWAIT);

		if (err != -EAGAIN && err != -ETOOMANYREFS && err != -ENOBUFS)
			return err;
		if (is_late(ask))
			return -ETIMEDOUT;
		wait_for_parser(ask, POLLOUT);
	}
}

static int send_file(struct asking *ask, enum protocol_kind kind, uint64_t n, int fd)
{
	const struct protocol_request request = { .kind = kind, .n = n };

	return send_until(ask, &request, sizeof(request), fd);
}

static int send_files(struct asking *ask)
{
	const struct inline_files *files = ask->files;
	int err = 0;

	if (files && files->alternate >= 0)
		err = send_file(ask, PROTOCOL_ALTERNATE, 0, files->alternate);
	for (size_t i = 0; !err && files && i < files->n_splits; i++)
		err = send_file(ask, PROTOCOL_SPLIT, files->splits[i].id,
				files->splits[i].fd);
	return err;
}

static int send_request(struct asking *ask, const uint64_t *addrs)
{
	const struct protocol_request request = { PROTOCOL_NAMES, ask->request->source,
						  ask->n };
	int err = send_files(ask);

	if (!err)
		err = send_until(ask, &request, sizeof(request), ask->request->fd);

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
	struct protocol_name head;
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
static bool fits(const struct asking *ask, const struct protocol_location *head)
{
	const struct locating *locating = ask->locating;

	_Static_assert(UINT16_MAX < NAME_BYTES_MAX, "name_bytes needs no look");
	if (head->file_bytes >= PROTOCOL_FILE_BYTES || head->depth != locating->n ||
	    head->depth > INLINES_MAX || head->index >= ask->n)
		return false;
	return head->depth ? head->index == locating->index : !ask->seen[head->index];
}

static size_t add_text(struct asking *ask, const char *text, size_t n)
{
	size_t at = ask->text.n;

	name_add(&ask->text, text, n);
	str_add_char(&ask->text, '\0');
	return at;
}

/* All locations of an address are there. */
static int pass_locations(struct asking *ask)
{
	struct locating *locating = ask->locating;
	size_t n = locating->n;

	locating->n = 0;
	if (ask->text.failed)
		return str_error(&ask->text);
	for (size_t i = 0; i < n; i++) {
		locating->locations[i].name = ask->text.s + locating->name_at[i];
		locating->locations[i].file = ask->text.s + locating->file_at[i];
	}
	return locating->sink(ask->arg, ask->base + locating->index, locating->locations,
			      n);
}

/* As take_name(). */
static size_t take_location(struct asking *ask, const unsigned char *bytes, size_t n)
{
	struct locating *locating = ask->locating;
	struct protocol_location head;
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
	i = locating->n++;
	locating->index = head.index;
	ask->seen[head.index] = 1;
	locating->locations[i].line = head.line;
	locating->name_at[i] = add_text(ask, text, head.name_bytes);
	locating->file_at[i] = add_text(ask, text + head.name_bytes, head.file_bytes);
	if (head.is_last && ask->sink_err >= 0)
		ask->sink_err = pass_locations(ask);
	if (head.is_last)
		locating->n = 0;
	return padded;
}

static int take_names(struct asking *ask, const union protocol_buffer *buf, size_t n)
{
	size_t at = sizeof(buf->head);

	if (!buf->head.count)
		return -EPROTO;
	for (uint32_t i = 0; i < buf->head.count; i++) {
		size_t used = ask->locating ? take_location(ask, buf->bytes + at, n - at)
					    : take_name(ask, buf->bytes + at, n - at);

		if (!used)
			return -EPROTO;
		at += used;
	}
	return at == n ? 0 : -EPROTO;
}

static bool is_done(const union protocol_buffer *buf, ssize_t n)
{
	return n == (ssize_t)sizeof(buf->head) && buf->head.kind == PROTOCOL_DONE;
}

/* Until DONE: its error is *ret. Anything negative returned is ours. */
static int recv_names(struct asking *ask, int *ret)
{
	union protocol_buffer *buf = &ask->worker->buf;
	uint32_t kind = ask->locating ? PROTOCOL_LOCATED : PROTOCOL_NAMED;

	for (;;) {
		ssize_t n = protocol_recv(ask->worker->sock, buf, sizeof(*buf), NULL,
					  MSG_DONTWAIT);
		int err = -EPROTO;

		if (!is_done(buf, n) && is_late(ask))
			return -ETIMEDOUT;
		if (n == -EAGAIN) {
			wait_for_parser(ask, POLLIN);
			continue;
		}
		if (n <= 0)
			return -EPIPE;
		if (n >= (ssize_t)sizeof(buf->head) && buf->head.kind == kind)
			err = take_names(ask, buf, (size_t)n);
		if (is_done(buf, n)) {
			*ret = buf->head.err ? protocol_error(buf->head.err) : 0;
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
		return fail(err, "names requested from a file that is not open");
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
		ask->n = n - at < PROTOCOL_ADDRS_MAX ? n - at : PROTOCOL_ADDRS_MAX;
		memset(ask->seen, 0, ask->n);
		if (ask->locating)
			ask->locating->n = 0;
		err = ask_some(ask, addrs + at);
	}
	return err;
}

static void begin_time(struct asking *ask)
{
	ask->patience_ms = worker_patience_ms(ask->worker, ask->request->deadline_ms);
	ask->time = worker_time_begin(ask->worker->pace.parser);
}

uint64_t worker_names_ns(const struct worker *worker)
{
	return worker->names_ns;
}

/* ask: worker, request and sinks are set. */
static int ask_for(struct asking *ask)
{
	size_t n = ask->request->n;
	int64_t taken;
	AUTO_FREE unsigned char *seen =
		malloc(n < PROTOCOL_ADDRS_MAX ? n + 1 : PROTOCOL_ADDRS_MAX);
	int err;

	if (!seen)
		return fail(-ENOMEM, "no memory for %zu addresses", n);
	if (ask->request->deadline_ms <= 0)
		return fail(-ETIMEDOUT, "no time is left for a file's names");
	pace_hurry(&ask->worker->pace, true);
	finish_scans(ask->worker);
	ask->seen = seen;
	begin_time(ask);
	ask->worker->counts.requests++;
	err = ask_all(ask);
	taken = taken_ns(ask);
	ask->worker->names_ns += (uint64_t)taken;
	pace_hurry(&ask->worker->pace, false);
	str_free(&ask->text);
	if (err == -ENOMEM) /* the parser's own limit, reached by one file; not ours */
		err = fail(-EFBIG, "a file needs more memory than its parser may have");
	ask->worker->counts.failed += err != 0;
	if (err == -ETIMEDOUT)
		ask->worker->late_ms += taken / ONE_MS_NS;
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

int worker_locations(struct worker *worker, const struct name_request *request,
		     const struct inline_files *files, inline_sink sink, void *arg)
{
	AUTO_FREE struct locating *locating = calloc(1, sizeof(*locating));
	struct asking ask = {
		.worker = worker,
		.request = request,
		.files = files,
		.locating = locating,
		.arg = arg,
	};

	if (!locating)
		return fail(-ENOMEM, "no memory for locations");
	locating->sink = sink;
	return ask_for(&ask);
}
