// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/sender_child.h"

#include "base/error.h"
#include "base/str.h"
#include "deliver/listener_child.h"
#include "deliver/pack.h"
#include "deliver/split.h"
#include "worker/network_sandbox.h"
#include "worker/worker_protocol.h"
#include "worker/worker_sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TOO_LARGE     413
#define PART_ID_BYTES 128
#define ALARM_SLACK_S 2 /* a request that goes on beyond its time, against all limits */

static void refuse(struct send_answer *answer, const char *why)
{
	*answer = (struct send_answer){ .outcome = SEND_NEVER };
	snprintf(answer->text, sizeof(answer->text), "%s", why);
}

/* Codes of HTTP that say "not now". Those that say that we have no right, or that
 * there is nothing at this path, are somebody's to mend, and meanwhile it waits. */
static bool is_later(long status)
{
	static const long later[] = { 401, 403, 404, 405, 408, 425,
				      429, 500, 502, 503, 504 };

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (status == later[i])
			return true;
	return false;
}

static void judge_yes(const struct receiver *receiver, const struct http_answer *answer,
		      struct send_answer *ret)
{
	enum receiver_says says = receiver->read_answer
					  ? receiver->read_answer(answer->text, answer->n)
					  : RECEIVER_TAKES;

	if (says == RECEIVER_REFUSES) {
		refuse(ret, "the server took the request, and not the profile");
	} else if (says == RECEIVER_IS_ANOTHER) {
		ret->outcome = SEND_LATER;
		snprintf(ret->text, sizeof(ret->text),
			 "it answers, but not as %s does: is the URL right?",
			 receiver->name);
	}
}

static void judge(const struct receiver *receiver, const struct http_answer *answer,
		  struct send_answer *ret)
{
	size_t n;

	*ret = (struct send_answer){ .status = (int32_t)answer->status };
	if (answer->status >= 200 && answer->status < 300) {
		judge_yes(receiver, answer, ret);
		return;
	}
	ret->outcome =
		!answer->status || is_later(answer->status) ? SEND_LATER : SEND_NEVER;
	if (answer->status == TOO_LARGE)
		ret->outcome = SEND_IN_PARTS;
	ret->retry_after_s = (uint32_t)answer->retry_after_s;
	n = answer->status ? (size_t)snprintf(ret->text, sizeof(ret->text),
					      "HTTP %ld: ", answer->status)
			   : 0;
	str_clean(ret->text + n, sizeof(ret->text) - n, answer->text,
		  strnlen(answer->text, sizeof(answer->text)));
}

static int read_all(int fd, struct str *out)
{
	char buf[16384];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		str_add_bytes(out, buf, (size_t)n);
		if (out->n > SENDER_PROFILE_BYTES_MAX)
			return -EFBIG;
	}
	return n < 0 ? -errno : str_error(out);
}

static int make_body(const struct receiver *receiver, const struct delivery *delivery,
		     struct str *out)
{
	AUTO_STR plain = { 0 };
	int err;

	if (!receiver->is_packed)
		return receiver->make(out, delivery);
	err = receiver->make(&plain, delivery);
	return err ? err : pack(&plain, out);
}

static void send_profile(const struct sender_config *config,
			 const struct delivery *delivery, struct send_answer *answer)
{
	const struct receiver *receiver = config->receiver;
	struct http_answer said;
	AUTO_STR body = { 0 };
	int err = make_body(receiver, delivery, &body);

	if (err) {
		refuse(answer, err == -ENOMEM ? "no memory for it" : error_sentence());
		return;
	}
	http_post(&config->target,
		  &(struct http_body){ receiver->content_type, receiver->is_packed,
				       body.s, body.n },
		  &said);
	judge(receiver, &said, answer);
}

/* A file of the spool, or a part of one. */
struct loaded {
	struct str plain;
	struct str packed; /* empty: of a part */
};

static void loaded_end(struct loaded *file)
{
	str_free(&file->plain);
	str_free(&file->packed);
}
#define AUTO_LOADED __attribute__((cleanup(loaded_end))) struct loaded

/* Some of the samples: it becomes a file of its own. */
static int take_part(const struct sender_job *job, struct loaded *file,
		     uint64_t *ret_samples)
{
	AUTO_STR part = { 0 };
	int err = pprof_part(&part, &file->plain, job->part, ret_samples);

	if (err)
		return err;
	str_clear(&file->packed);
	str_clear(&file->plain);
	str_add_bytes(&file->plain, part.s, part.n);
	return str_error(&file->plain);
}

/* The parts have names of their own. */
static void name_part(const struct sender_job *job, char id[PART_ID_BYTES])
{
	if (job->part.parts == 1)
		snprintf(id, PART_ID_BYTES, "%s", job->id);
	else
		snprintf(id, PART_ID_BYTES, "%s+%uof%u", job->id, job->part.part + 1,
			 job->part.parts);
}

/* Several have names of their own. */
static void name_series(struct delivered_series *series, const char *id, size_t i,
			size_t n)
{
	if (n == 1)
		snprintf(series->id, sizeof(series->id), "%s", id);
	else
		snprintf(series->id, sizeof(series->id), "%s~%zu", id, i);
}

static int fill_series(struct delivered_series *series,
		       const struct sender_config *config, const struct split *split,
		       const struct loaded *file)
{
	AUTO_STR own = { 0 };
	int err;

	series->labels = config->labels;
	series->n_labels = config->n_labels;
	if (split_is_told(split))
		series->labels =
			split_labels(split, series->pick.series, &series->n_labels);
	if (config->receiver->is_whole)
		return 0;
	if (!split_is_told(split) && file->packed.n) {
		str_add_bytes(&series->pprof, file->packed.s, file->packed.n);
		return str_error(&series->pprof);
	}
	err = pprof_pick(&own, &file->plain, &series->pick);
	return err ? err : pack(&own, &series->pprof);
}

static void send_series(const struct sender_config *config, const struct sender_job *job,
			const struct split *split, const struct loaded *file,
			struct send_answer *answer)
{
	size_t n = split_count(split);
	AUTO_FREE struct delivered_series *series = calloc(n + 1, sizeof(*series));
	struct delivery delivery = {
		.plain = &file->plain,
		.series = series,
		.n_series = n,
		.name = job->is_second ? "process_cpu_thread" : "process_cpu",
		.is_second = job->is_second,
	};
	char id[PART_ID_BYTES];
	int err = series ? 0 : -ENOMEM;

	name_part(job, id);
	for (size_t i = 0; !err && i < n; i++) {
		series[i].pick = split_pick(split, i);
		name_series(&series[i], id, i, n);
		err = fill_series(&series[i], config, split, file);
	}
	if (err)
		refuse(answer, "it cannot be split");
	else if (n)
		send_profile(config, &delivery, answer);
	for (size_t i = 0; series && i < n; i++)
		str_free(&series[i].pprof);
}

static void send_file(const struct sender_config *config, const struct sender_job *job,
		      int fd, struct send_answer *answer)
{
	uint64_t samples = UINT64_MAX;
	AUTO(split) split = NULL;
	AUTO_LOADED file = { 0 };

	if (read_all(fd, &file.packed)) {
		refuse(answer, "the file cannot be read");
	} else if (!unpack(&file.packed, &file.plain)) {
		refuse(answer, "the file is damaged");
	} else if ((job->part.parts != 1 && take_part(job, &file, &samples)) ||
		   split_new(&split, &file.plain)) {
		refuse(answer, "it cannot be split");
	} else if (samples) {
		send_series(config, job, split, &file, answer);
		if (answer->outcome == SEND_IN_PARTS && samples == 1)
			answer->outcome = SEND_NEVER;
	}
}

static int answer_one(int sock, const struct sender_config *config)
{
	struct send_answer answer = { 0 };
	AUTO_CLOSE int fd = -1;
	struct sender_job job;

	if (protocol_recv(sock, &job, sizeof(job), &fd, 0) != (ssize_t)sizeof(job) ||
	    fd < 0)
		return -EPROTO;
	job.id[sizeof(job.id) - 1] = '\0';
	if (!job.part.parts || job.part.part >= job.part.parts)
		return -EPROTO;
	alarm((unsigned int)(config->target.timeout_ms / 1000) + ALARM_SLACK_S);
	send_file(config, &job, fd, &answer);
	alarm(0);
	return protocol_send(sock, &answer, sizeof(answer), -1, 0);
}

static void sender_run(int sock, pid_t keeper, const struct sender_config *config)
	__attribute__((noreturn));
static void sender_run(int sock, pid_t keeper, const struct sender_config *config)
{
	prctl(PR_SET_NAME, "weft-sender");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(1);
	sock = sandbox_files(sock);
	network_sandbox();
	while (!answer_one(sock, config))
		;
	_exit(0);
}

void sender_keeper_run(int control, pid_t parent, const struct sender_config *configs,
		       size_t n)
{
	pid_t us = getpid();
	uint32_t i;

	prctl(PR_SET_NAME, "weft-keeper");
	sandbox_process();
	if (getppid() != parent)
		_exit(1);
	control = sandbox_files(control);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
	for (;;) {
		AUTO_CLOSE int sock = -1;

		if (protocol_recv(control, &i, sizeof(i), &sock, 0) !=
			    (ssize_t)sizeof(i) ||
		    i > n || sock < 0)
			_exit(0);
		if (fork())
			continue;
		if (i == n)
			listener_child_run(sock, us);
		sender_run(sock, us, &configs[i]);
	}
}
