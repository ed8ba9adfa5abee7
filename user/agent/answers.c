// SPDX-License-Identifier: BSD-2-Clause
#include "agent/answers.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "core/merge.h"
#include "format/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WAITING_MAX 16
#define AT_ONCE_MAX 16
/* As far a window may begin or end beside what was asked for: nobody can make us close
 * windows faster. */
#define BESIDE_NS (SECOND_NS / 2)

/* Who waits for a page, or for the windows from one time to another. */
struct awaiting {
	uint32_t id;
	enum question question;
	enum view view;
	uint64_t from_ns, to_ns;
	struct profile *sum; /* owned; NULL: no window yet */
};

struct answers {
	const struct agent_options *options;
	struct shipping *shipping;
	struct metrics *metrics;
	struct listener *listener;
	struct awaiting waiting[WAITING_MAX];
	size_t n;
};

int answers_new(struct answers **ret, const struct agent_options *options,
		struct shipping *shipping, struct metrics *metrics)
{
	AUTO(answers) answers = NULL;
	int err;

	*ret = NULL;
	if (!options->listen.address)
		return 0;
	answers = calloc(1, sizeof(*answers));
	if (!answers)
		return fail(-ENOMEM, "no memory for answers");
	answers->options = options;
	answers->shipping = shipping;
	answers->metrics = metrics;
	err = listener_new(&answers->listener, shipping_keeper(shipping),
			   &options->listen);
	if (err)
		return err;
	log_verbose("listens at %s", listener_address(answers->listener));
	*ret = GIVE(answers);
	return 0;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	for (size_t i = 0; i < answers->n; i++)
		profile_free(answers->waiting[i].sum);
	listener_free(answers->listener);
	free(answers);
}

int answers_fd(const struct answers *answers)
{
	return answers ? listener_fd(answers->listener) : -1;
}

static void say(struct answers *answers, uint32_t id, unsigned int status,
		const char *text)
{
	listener_answer(answers->listener, id, status, text, strlen(text));
}

static void say_pause(struct answers *answers, uint32_t id, unsigned int status)
{
	char line[64];

	snprintf(line, sizeof(line), "%s\n", pause_text(answers->metrics->pause));
	say(answers, id, status, line);
}

static void say_numbers(struct answers *answers, const struct listener_question *asked)
{
	size_t n = answers->options->n_receivers;
	AUTO_STR text = { 0 };

	answers->metrics->listener_restarts = listener_restarts(answers->listener);
	if (asked->question == QUESTION_METRICS)
		metrics_prometheus(&text, answers->metrics, answers->shipping, n);
	else
		metrics_page(&text, answers->metrics, answers->shipping, n);
	if (str_error(&text))
		say(answers, asked->id, 503, "no memory\n");
	else
		listener_answer(answers->listener, asked->id, 200, text.s, text.n);
}

static void let_wait(struct answers *answers, const struct listener_question *asked,
		     uint64_t now_ns)
{
	if (answers->metrics->pause) {
		say_pause(answers, asked->id, 503);
		return;
	}
	if (answers->n == WAITING_MAX) {
		say(answers, asked->id, 503, "too many wait already\n");
		return;
	}
	answers->waiting[answers->n++] = (struct awaiting){
		.id = asked->id,
		.question = asked->question,
		.view = asked->view,
		.from_ns = now_ns,
		.to_ns = now_ns + asked->seconds * SECOND_NS,
	};
}

/* Who rests does as it was told. */
static void say_ready(struct answers *answers, uint32_t id)
{
	const struct metrics *metrics = answers->metrics;

	if (metrics->pause)
		say_pause(answers, id, metrics->pause == PAUSE_LOTTERY ? 200 : 503);
	else if (metrics->windows)
		say(answers, id, 200, "samples\n");
	else
		say(answers, id, 503, "no window yet\n");
}

static void heed(struct answers *answers, const struct listener_question *asked,
		 uint64_t now_ns)
{
	switch ((enum question)asked->question) {
	case QUESTION_HEALTH:
		say(answers, asked->id, 200, "alive\n");
		break;
	case QUESTION_READY:
		say_ready(answers, asked->id);
		break;
	case QUESTION_METRICS:
	case QUESTION_STATUS:
		say_numbers(answers, asked);
		break;
	case QUESTION_WINDOW:
	case QUESTION_PROFILE:
		let_wait(answers, asked, now_ns);
		break;
	case N_QUESTIONS:
		break;
	}
}

void answers_step(struct answers *answers, uint64_t now_ns)
{
	struct listener_question asked;

	if (!answers)
		return;
	listener_step(answers->listener, now_ns);
	for (int i = 0; i < AT_ONCE_MAX; i++) {
		if (listener_ask(answers->listener, &asked))
			break;
		heed(answers, &asked, now_ns);
	}
}

uint64_t answers_wish_ns(const struct answers *answers, uint64_t begun_ns)
{
	uint64_t wish = UINT64_MAX;

	for (size_t i = 0; answers && i < answers->n; i++) {
		const struct awaiting *w = &answers->waiting[i];

		if (w->question != QUESTION_PROFILE)
			continue;
		if (w->from_ns > begun_ns + BESIDE_NS && w->from_ns < wish)
			wish = w->from_ns;
		if (w->to_ns > begun_ns + BESIDE_NS && w->to_ns < wish)
			wish = w->to_ns;
	}
	return wish;
}

static void write_answer(struct answers *answers, const struct awaiting *w,
			 const struct profile *profile)
{
	const struct writer *writer =
		w->question == QUESTION_WINDOW ? &html_writer : &pprof_writer;
	const struct writer_options options = { .view = w->view, .title = "weft agent" };
	AUTO(outfile) file = NULL;
	int fd, err = outfile_new_memory(&file, &fd);

	if (!err)
		err = writer->write(file, profile, &options);
	if (!err) {
		listener_answer_file(answers->listener, w->id, 200, fd);
		return;
	}
	say(answers, w->id, 503, "it could not be written\n");
	log_warn("cannot answer: %s", error_sentence());
	error_clear();
}

static int add_window(struct awaiting *w, const struct profile *profile)
{
	int err = w->sum ? 0 : profile_new(&w->sum);

	return err ? err : profile_merge(w->sum, profile);
}

void answers_refuse(struct answers *answers)
{
	for (size_t i = 0; answers && i < answers->n; i++) {
		say_pause(answers, answers->waiting[i].id, 503);
		profile_free(answers->waiting[i].sum);
	}
	if (answers)
		answers->n = 0;
}

/* True: it has all of it. */
static bool answer_one(struct answers *answers, struct awaiting *w,
		       const struct profile *profile, uint64_t begun_ns,
		       uint64_t ended_ns)
{
	int err;

	if (w->question == QUESTION_WINDOW) {
		write_answer(answers, w, profile);
		return true;
	}
	if (begun_ns + BESIDE_NS < w->from_ns)
		return false;
	err = add_window(w, profile);
	if (!err && ended_ns + BESIDE_NS < w->to_ns)
		return false;
	if (!err)
		err = profile_finish(w->sum);
	if (!err)
		write_answer(answers, w, w->sum);
	else
		say(answers, w->id, 503, "no memory\n");
	profile_free(w->sum);
	return true;
}

void answers_take(struct answers *answers, const struct profile *profile,
		  uint64_t begun_ns, uint64_t ended_ns)
{
	size_t left = 0;

	if (!answers)
		return;
	for (size_t i = 0; i < answers->n; i++) {
		struct awaiting *w = &answers->waiting[i];

		if (!answer_one(answers, w, profile, begun_ns, ended_ns))
			answers->waiting[left++] = *w;
	}
	answers->n = left;
}
