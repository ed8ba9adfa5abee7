// SPDX-License-Identifier: BSD-2-Clause
/*
 * Our side of the worker. Nothing here waits without a deadline, and what the
 * parser answers is checked like any foreign bytes: a file may have taken it
 * over.
 *
 * Scans form one queue: jobs[first … answered) are done and wait for their
 * sink, [answered … sent) are with the parser, the rest waits. The descriptors
 * stay with us until the answer, since a parser that dies of one file must be
 * asked again about those behind it.
 */
#include "worker/worker_parts.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define SCAN_DEADLINE_MS  5000
#define LARGE_DEADLINE_MS 20000
#define LATE_MS_MORE	  1000 /* than that, for all late files; then each has */
#define HASTE_MS	  200
#define STARVED_TIMES	  4 /* its patience, for a parser that gets no CPU */
#define IN_FLIGHT_MAX	  32
#define QUEUE_MAX	  (1u << 16) /* every one holds a descriptor */
#define POLL_SLICE_MS	  100

int worker_patience_ms(const struct worker *worker, int deadline_ms)
{
	int64_t left = worker->scan_deadline_ms + LATE_MS_MORE - worker->late_ms;

	if (left < HASTE_MS)
		left = HASTE_MS;
	return deadline_ms < left ? deadline_ms : (int)left;
}

static int start_parser(struct worker *worker)
{
	static const struct supervised parsers = {
		.name = "weft-supervisor",
		.child_name = "weft-parser",
		.run = parser_run,
		/* a message is refused if it is larger than what may wait */
		.socket_bytes = 2 * PROTOCOL_BYTES_MAX,
	};
	pid_t pid = 0;
	int sock;

	pace_leave(&worker->pace, worker_now_ms());
	if (worker->sock >= 0)
		close(GIVE_FD(worker->sock));
	sock = supervisor_ask(&worker->supervisor, &parsers, &pid);
	if (sock < 0)
		return sock;
	worker->sock = sock;
	pace_take(&worker->pace, pid);
	return 0;
}

int worker_restart(struct worker *worker)
{
	worker->counts.restarts++;
	return start_parser(worker);
}

int worker_let_go(struct worker *worker)
{
	return worker->first == worker->jobs.n ? start_parser(worker) : 0;
}

int worker_new(struct worker **ret)
{
	AUTO(worker) worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return fail(-ENOMEM, "no memory for a worker");
	worker->sock = -1;
	worker->supervisor = (struct supervisor){ -1, -1 };
	worker->scan_deadline_ms = SCAN_DEADLINE_MS;
	pace_begin(&worker->pace, worker_now_ms());
	err = start_parser(worker);
	if (err)
		return err;
	*ret = GIVE(worker);
	return 0;
}

void worker_be_patient(struct worker *worker)
{
	worker->scan_deadline_ms = LARGE_DEADLINE_MS;
}

static void free_job(struct scan_job *job)
{
	if (job->fd >= 0)
		close(GIVE_FD(job->fd));
	free(job->info);
	job->info = NULL;
	worker_free_table(job);
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->sock >= 0)
		close(worker->sock);
	supervisor_end(&worker->supervisor);
	for (size_t i = worker->first; i < worker->jobs.n; i++)
		free_job(&worker->jobs.items[i]);
	vec_free(&worker->jobs);
	free(worker);
}

int worker_fd(const struct worker *worker)
{
	return worker->answered < worker->sent ? worker->sock : -1;
}

const struct worker_counts *worker_counts(const struct worker *worker)
{
	return &worker->counts;
}

static void begin_oldest(struct worker *worker)
{
	worker->scan_time = worker_time_begin(worker->pace.parser);
}

/* Some are done before their turn: those that could not even be sent. */
static void skip_done(struct worker *worker)
{
	while (worker->answered < worker->sent &&
	       worker->jobs.items[worker->answered].done)
		worker->answered++;
	begin_oldest(worker);
}

static void answer_job(struct worker *worker, struct scan_job *job, int err)
{
	job->err = err;
	job->done = true;
	if (job->kind != JOB_HASH) /* whose sink gets it back */
		close(GIVE_FD(job->fd));
	/* a file may have nothing that a table could be made of */
	worker->counts.failed += err && err != -ENODATA && err != -ECANCELED;
	skip_done(worker);
}

static void answer_all(struct worker *worker, int err)
{
	for (worker->sent = worker->jobs.n; worker->answered < worker->sent;)
		answer_job(worker, &worker->jobs.items[worker->answered], err);
}

/* The parser died or is ended: the oldest did it, the others go again. When
 * none was with it, the next in line is named all the same if fresh parsers
 * die of nothing, so that this ends. */
static void blame_oldest(struct worker *worker, int why)
{
	struct scan_job *oldest = worker->jobs.items + worker->answered;
	int err;

	if (worker->answered < worker->sent) {
		/* of one that has ended only the clock on the wall is known */
		oldest->cpu_ns += clock_now_ns() - worker->scan_time.begun_ns;
		answer_job(worker, oldest, why);
		worker->sent = worker->answered;
	}
	err = worker_restart(worker);
	if (err)
		answer_all(worker, err);
}

void worker_drop_scans(struct worker *worker)
{
	bool is_busy = worker->answered < worker->sent;

	answer_all(worker, -ECANCELED);
	if (is_busy && worker_restart(worker))
		error_clear(); /* told once something is asked */
}

static int send_job(struct worker *worker, const struct scan_job *job)
{
	const struct protocol_request request = { .kind = PROTOCOL_SCAN };

	if (job->kind != JOB_SCAN)
		return worker_send_table(worker, job);
	return protocol_send(worker->sock, &request, sizeof(request), job->fd,
			     MSG_DONTWAIT);
}

static void send_jobs(struct worker *worker)
{
	int deaths = 0;

	while (worker->sent < worker->jobs.n &&
	       worker->sent - worker->answered < IN_FLIGHT_MAX) {
		struct scan_job *job = &worker->jobs.items[worker->sent];
		int err;

		if (job->done) {
			worker->sent++;
			skip_done(worker);
			continue;
		}
		err = send_job(worker, job);
		if (err == -EAGAIN || err == -ETOOMANYREFS || err == -ENOBUFS)
			return;
		if (err == -EPIPE || err == -ECONNRESET || worker->sock < 0) {
			if (worker->sent == worker->answered && deaths++)
				worker->sent++;
			blame_oldest(worker, -EPIPE);
			continue;
		}
		if (worker->sent++ == worker->answered)
			begin_oldest(worker);
		if (err)
			answer_job(worker, job, err);
	}
}

/* 0 or the answer's error; -EPROTO: no answer to a scan. */
static int take_elf_info(struct scan_job *job, const union protocol_buffer *buf, size_t n)
{
	const struct protocol_answer *head = &buf->head;

	if (n < sizeof(*head) || head->kind != PROTOCOL_ELF_INFO)
		return -EPROTO;
	if (head->err)
		return protocol_error(head->err);
	if (n != sizeof(buf->info) || !elf_info_holds(&buf->info.info))
		return -EPROTO;
	job->info = malloc(sizeof(*job->info));
	if (!job->info)
		return -ENOMEM;
	memcpy(job->info, &buf->info.info, sizeof(*job->info));
	return 0;
}

static int take_answer(struct worker *worker, struct scan_job *job, size_t n)
{
	switch (job->kind) {
	case JOB_SCAN:
		return take_elf_info(job, &worker->buf, n);
	case JOB_HASH:
		return worker_take_hash(worker, job, n);
	default:
		return worker_take_table(worker, job, n);
	}
}

/* Answers that come together share what was taken since the last ones. */
static void charge_jobs(struct worker *worker, size_t first)
{
	size_t n = worker->answered - first;
	uint64_t each = n ? pace_lap(&worker->pace) / n : 0;

	while (first < worker->answered)
		worker->jobs.items[first++].cpu_ns += each;
}

static void recv_answers(struct worker *worker)
{
	size_t first = worker->answered;

	while (worker->answered < worker->sent) {
		struct scan_job *job = &worker->jobs.items[worker->answered];
		ssize_t n = protocol_recv(worker->sock, &worker->buf, sizeof(worker->buf),
					  NULL, MSG_DONTWAIT);
		int err;

		if (n == -EAGAIN)
			break;
		err = n <= 0 ? -EPIPE : take_answer(worker, job, (size_t)n);
		if (n <= 0 || err == -EPROTO)
			blame_oldest(worker, err);
		else if (err <= 0)
			answer_job(worker, job, err);
		else if (!job->table->n_came) /* it is made: now it is sent */
			begin_oldest(worker);
	}
	charge_jobs(worker, first);
}

/* Nothing was asked, so it can only be the end of it, or a lie. */
static bool speaks_unasked(const struct worker *worker)
{
	struct pollfd end = { .fd = worker->sock, .events = POLLIN };

	return worker->answered == worker->sent && poll(&end, 1, 0) > 0;
}

/* What the parser reads; NULL: nothing. */
static const struct scan_job *oldest_of(const struct worker *worker)
{
	return worker->answered < worker->sent ? &worker->jobs.items[worker->answered]
					       : NULL;
}

static bool makes_others_wait(const struct worker *worker, const struct scan_job *job)
{
	if (!job->is_behind || worker->pace.hurries)
		return job->is_behind;
	for (size_t i = worker->answered; i < worker->jobs.n; i++)
		if (!worker->jobs.items[i].is_behind)
			return true;
	return false;
}

/* What the oldest took of its parser, who may have waited for a CPU, if not too long. */
static int64_t oldest_ms(struct worker *worker, int patience)
{
	int64_t ms = (int64_t)(clock_now_ns() - worker->scan_time.begun_ns) / 1000000;

	return ms >= TIME_LOOK_MS && ms < STARVED_TIMES * patience
		       ? (int64_t)(worker_time_ns(&worker->scan_time) / 1000000)
		       : ms;
}

static void end_late(struct worker *worker)
{
	const struct scan_job *oldest = oldest_of(worker);
	int patience = worker_patience_ms(worker, worker->scan_deadline_ms);
	int64_t ms;

	if (!oldest)
		return;
	if (patience > HASTE_MS && makes_others_wait(worker, oldest))
		patience = HASTE_MS;
	ms = oldest_ms(worker, patience);
	if (ms <= patience)
		return;
	if (!oldest->is_behind)
		worker->late_ms += ms;
	blame_oldest(worker, -ETIMEDOUT);
}

/* One that ended on its own may have lent its number to somebody else. */
static void keep_pace(struct worker *worker)
{
	const struct scan_job *oldest = oldest_of(worker);
	bool is_behind = oldest && oldest->is_behind;
	struct pollfd end = { .fd = worker->sock };
	int64_t now_ms = worker_now_ms();

	if ((is_behind == worker->pace.is_behind &&
	     !pace_is_due(&worker->pace, false, now_ms)) ||
	    worker->sock < 0 || (poll(&end, 1, 0) > 0 && end.revents & POLLHUP))
		return;
	pace_go_behind(&worker->pace, is_behind, now_ms);
	pace_keep(&worker->pace, now_ms);
}

void worker_pump(struct worker *worker, bool send_more)
{
	keep_pace(worker);
	recv_answers(worker);
	/* whoever polls our socket would find it readable for ever */
	if (send_more && speaks_unasked(worker) && worker_restart(worker))
		error_clear(); /* told once something is asked */
	end_late(worker);
	if (send_more)
		send_jobs(worker);
	keep_pace(worker);
}

void worker_wait(struct worker *worker, short events, int64_t until_ms)
{
	struct pollfd end = { .fd = worker->sock, .events = events };
	int64_t left = until_ms - worker_now_ms();

	if (left > POLL_SLICE_MS)
		left = POLL_SLICE_MS;
	if (left > 0)
		poll(&end, 1, (int)left);
}

/* Forgets what was delivered, now and then. */
static void trim_queue(struct worker *worker)
{
	size_t gone = worker->first;

	if (gone < worker->jobs.n && (gone < 1024 || gone < worker->jobs.n / 2))
		return;
	worker->jobs.n -= gone;
	worker->answered -= gone;
	worker->sent -= gone;
	worker->first = 0;
	if (worker->jobs.n)
		memmove(worker->jobs.items, worker->jobs.items + gone,
			worker->jobs.n * sizeof(*worker->jobs.items));
}

static int worker_queue(struct worker *worker, struct scan_job *job)
{
	const struct table_sink *sink = &worker->table_sink;
	int err = 0;

	trim_queue(worker);
	job->is_behind = sink->is_behind && sink->is_behind(sink->arg, job->cookie);
	if (worker->jobs.n - worker->first >= QUEUE_MAX)
		err = fail(-ENOBUFS, "too many files are waiting to be scanned");
	if (!err)
		err = vec_push(&worker->jobs, *job);
	if (err) {
		close(job->fd);
		return err;
	}
	worker->counts.requests++;
	worker_pump(worker, true);
	return 0;
}

int worker_submit_scan(struct worker *worker, int fd, uint64_t cookie)
{
	return worker_queue(worker, &(struct scan_job){ .fd = fd, .cookie = cookie });
}

int worker_submit_table(struct worker *worker, int fd, uint64_t cookie)
{
	return worker_queue(
		worker,
		&(struct scan_job){ .fd = fd, .cookie = cookie, .kind = JOB_TABLE });
}

int worker_submit_recorded_table(struct worker *worker, int fd, uint64_t cookie)
{
	return worker_queue(worker, &(struct scan_job){ .fd = fd,
							.cookie = cookie,
							.kind = JOB_RECORDED_TABLE });
}

int worker_submit_hash(struct worker *worker, int fd, uint64_t cookie,
		       const struct byte_ranges *list)
{
	struct scan_job job = { .fd = fd, .cookie = cookie, .kind = JOB_HASH };
	int err = worker_copy_ranges(list, &job.byte_ranges);

	if (err < 0) {
		close(fd);
		return fail(err, "no memory for %u ranges", list->n);
	}
	err = worker_queue(worker, &job);
	if (err)
		free(job.byte_ranges);
	return err;
}

/* The sink may submit more, which may move the queue. */
static void deliver(struct worker *worker, scan_sink sink, void *arg)
{
	static const struct elf_info nothing;

	while (worker->first < worker->answered) {
		struct scan_job job = worker->jobs.items[worker->first++];
		const struct table_sink *tables = &worker->table_sink;

		if (tables->took)
			tables->took(tables->arg, job.cookie, job.cpu_ns);
		if (job.kind != JOB_SCAN)
			worker_deliver_table(worker, &job);
		else
			sink(arg, job.cookie, job.err, job.info ? job.info : &nothing);
		free_job(&job);
	}
}

/* This is asked all the time, and mostly nothing is being read. If the parser has ended,
 * that is early enough to know when something is asked, or a look is due. */
static bool is_at_rest(const struct worker *worker)
{
	return worker->first == worker->jobs.n && worker->sock >= 0 &&
	       !pace_is_due(&worker->pace, true, worker_now_ms());
}

int worker_collect(struct worker *worker, int wait_ms, scan_sink sink, void *arg)
{
	int64_t until = worker_now_ms() + wait_ms;

	if (is_at_rest(worker))
		return 0;
	for (;;) {
		size_t left;

		worker_pump(worker, true);
		deliver(worker, sink, arg);
		left = worker->jobs.n - worker->first;
		if (!left || worker_now_ms() >= until)
			return (int)left;
		if (worker->answered == worker->first)
			worker_wait(worker, POLLIN, until);
	}
}
