// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent.h"

#include "agent/answers.h"
#include "agent/notify.h"
#include "agent/shipping.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "record/window_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>

#define CLOSED_MAX 4		   /* that wait for names; a window then stays open */
#define END_NS	   (5 * SECOND_NS) /* for what is left, once we shall end */
#define RELOAD_NS  (3 * SECOND_NS) /* for what is on its way, while we sample on */

struct agent {
	const struct agent_options *options;
	struct signals signals;
	struct notify notify;
	struct shipping *shipping;
	struct metrics metrics;
	struct answers *answers; /* NULL: nobody may ask */
	struct recording *recording;
	struct worker *worker; /* for names */
	struct name_cache *cache;
	struct recorded_window *closed[CLOSED_MAX]; /* in turn */
	size_t n_closed;
	/* of the first of these */
	struct window_profile profile;
	struct names *names;
	struct symbolizer *symbolizer;
	uint64_t next_close_ns, next_second_ns;
	uint64_t windows, samples, lost; /* that were sampled, and by the ledger */
	bool stop;
	uint64_t reload_ns; /* at the latest; 0: nobody asked for it */
};

static uint64_t first_window_ns(const struct agent *agent)
{
	uint64_t window = agent->options->window_ns;
	uint32_t random = 0;

	/* so that agents which began together don't deliver together */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return window;
	return window / 2 + window / 2 / 65536 * (random >> 16);
}

static int begin_naming(struct agent *agent)
{
	const struct recorded_window *w = agent->closed[0];
	struct symbol_sources sources;
	int err = window_profile_begin(&agent->profile, agent->recording, w, w->begun_ns);

	if (!err)
		err = names_new(&agent->names);
	if (err)
		return err;
	sources = window_profile_sources(&agent->profile);
	sources.worker = agent->worker;
	sources.cache = agent->cache;
	return symbolizer_new(&agent->symbolizer, agent->names,
			      window_aggregator(w->window), &sources);
}

static int ship(struct agent *agent)
{
	const struct recorded_window *w = agent->closed[0];
	struct stats stats = { .totals = w->totals,
			       .duration_ns = w->ended_ns - w->begun_ns };
	int err = window_profile_check(&agent->profile, agent->names, &stats);

	if (!err)
		err = window_profile_finish(&agent->profile, agent->names, &stats);
	if (err)
		return err;
	agent->windows++;
	agent->samples += stats.aggregator->samples.total;
	agent->lost += stats_losses(&stats);
	metrics_add(&agent->metrics, &stats);
	shipping_add(agent->shipping, profile_builder_profile(agent->profile.builder));
	answers_take(agent->answers, profile_builder_profile(agent->profile.builder),
		     w->begun_ns, w->ended_ns);
	return 0;
}

static void end_naming(struct agent *agent)
{
	symbolizer_free(agent->symbolizer);
	names_free(agent->names);
	agent->symbolizer = NULL;
	agent->names = NULL;
	window_profile_end(&agent->profile);
	recorded_window_free(agent->closed[0]);
	memmove(agent->closed, agent->closed + 1,
		--agent->n_closed * sizeof(*agent->closed));
}

/* A module of the first closed window; after its last, the window goes out. */
static int name_more(struct agent *agent)
{
	int err = 0;

	if (!agent->n_closed)
		return 0;
	if (!agent->names)
		err = begin_naming(agent);
	if (!err)
		err = symbolizer_step(agent->symbolizer);
	if (err)
		return err < 0 ? err : 0;
	err = ship(agent);
	end_naming(agent);
	name_cache_turn(agent->cache);
	return err;
}

static int close_window(struct agent *agent, bool is_last)
{
	struct recorded_window *w;
	int err = recording_close_window(agent->recording, is_last, &w);

	if (err)
		return err;
	agent->closed[agent->n_closed++] = w;
	if (w->ended_ns >= agent->next_close_ns) /* and nobody wished for it earlier */
		agent->next_close_ns += agent->options->window_ns;
	if (agent->next_close_ns < w->ended_ns) /* after a stop of the machine */
		agent->next_close_ns = w->ended_ns + agent->options->window_ns;
	return 0;
}

static bool is_over(struct agent *agent, uint64_t now)
{
	uint64_t duration = agent->options->record.duration_ns;

	if (agent->reload_ns &&
	    (shipping_close(agent->shipping) || now >= agent->reload_ns))
		return true;
	return agent->stop ||
	       (duration && now - agent->recording->started_ns >= duration);
}

static void begin_reload(struct agent *agent)
{
	notify_reloading(&agent->notify);
	if (agent->options->would_do()) {
		log_warn("configuration: it is right, and taken when what is on its way "
			 "has arrived");
		agent->reload_ns = clock_now_ns() + RELOAD_NS;
		return;
	}
	log_warn("configuration: it is wrong, so what was read before stays");
	notify_ready(&agent->notify, "the configuration is wrong; the old one stays");
}

static void heed_signals(struct agent *agent)
{
	unsigned int said = signals_read(&agent->signals);

	agent->stop |= said & SIGNALS_STOP;
	if (said & SIGNALS_HANGUP && !agent->stop && !agent->reload_ns)
		begin_reload(agent);
}

static int wait_for_work(struct agent *agent)
{
	struct pollfd fds[RECORDING_FDS + 2 + AGENT_RECEIVERS_MAX] = {
		[RECORDING_FDS] = { .fd = agent->signals.fd, .events = POLLIN },
		[RECORDING_FDS + 1] = { .fd = answers_fd(agent->answers),
					.events = POLLIN },
	};
	size_t n = RECORDING_FDS + 2;

	recording_fds(agent->recording, fds);
	n += shipping_fds(agent->shipping, fds + n);
	/* while windows wait for their names there is work */
	if (poll(fds, n, agent->n_closed ? 0 : recording_pace_ms(agent->recording)) < 0 &&
	    errno != EINTR)
		return fail_errno(-errno, "poll");
	heed_signals(agent);
	return 0;
}

static int every_second(struct agent *agent, uint64_t now)
{
	if (now < agent->next_second_ns)
		return 0;
	agent->next_second_ns = now + SECOND_NS;
	return sampler_check_cpus(agent->recording->sampler);
}

static uint64_t close_due_ns(const struct agent *agent)
{
	uint64_t wish =
		answers_wish_ns(agent->answers, agent->recording->windows.open->begun_ns);

	return wish < agent->next_close_ns ? wish : agent->next_close_ns;
}

static int loop(struct agent *agent)
{
	uint64_t now = clock_now_ns();
	int err = 0;

	agent->next_close_ns = now + first_window_ns(agent);
	while (!err && !is_over(agent, now)) {
		err = wait_for_work(agent);
		if (!err)
			err = recording_pump(agent->recording);
		now = clock_now_ns();
		/* there is always room for the last */
		if (!err && now >= close_due_ns(agent) &&
		    agent->n_closed < CLOSED_MAX - 1)
			err = close_window(agent, false);
		if (!err)
			err = name_more(agent);
		if (!err)
			err = every_second(agent, now);
		shipping_step(agent->shipping);
		answers_step(agent->answers, now);
		notify_alive(&agent->notify, now);
	}
	return err;
}

static int close_last(struct agent *agent)
{
	int err = recording_stop(agent->recording);

	if (!err)
		err = recording_drain(agent->recording);
	if (!err)
		err = close_window(agent, true);
	while (!err && agent->n_closed)
		err = name_more(agent);
	return err;
}

/* What there is goes to the spool. Signals that come wait for who takes our place. */
static int put_away(struct agent *agent)
{
	int err = close_last(agent);

	return err ? err : AGENT_RELOAD;
}

/* What there is goes out, or to the spool. */
static int finish(struct agent *agent)
{
	uint64_t begun = clock_now_ns(), used;
	int err;

	notify_stopping(&agent->notify);
	signals_let_go(); /* who asks twice does not want to wait */
	err = close_last(agent);
	used = clock_now_ns() - begun;
	shipping_end(agent->shipping, used < END_NS ? END_NS - used : 0);
	return err;
}

static void tell(const struct agent *agent)
{
	const struct record_options *record = &agent->options->record;
	AUTO_STR text = { 0 };

	if (!record->summary)
		return;
	str_addf(&text,
		 "weft agent: %" PRIu64 " windows, %" PRIu64 " samples, %" PRIu64
		 " lost\n",
		 agent->windows, agent->samples, agent->lost);
	shipping_summary(&text, agent->shipping);
	if (!str_error(&text))
		record->summary(text.s);
}

static int run_it(struct agent *agent)
{
	int err = recording_start(agent->recording);

	if (!err)
		notify_ready(&agent->notify, "samples");
	if (!err)
		err = loop(agent);
	if (!err)
		err = agent->reload_ns && !agent->stop ? put_away(agent) : finish(agent);
	tell(agent);
	return err;
}

int agent_run(const struct agent_options *options)
{
	struct agent agent = { .options = options,
			       .metrics = { .begun_unix_ns = clock_unix_ns(),
					    .hz = options->record.hz } };
	int err = signals_take(&agent.signals);

	prctl(PR_SET_NAME,
	      "weft"); /* who was started again would be called after /proc */
	notify_begin(&agent.notify);
	if (!err)
		err = shipping_new(&agent.shipping, options);
	if (!err)
		err = answers_new(&agent.answers, options, agent.shipping,
				  &agent.metrics);
	if (!err)
		err = worker_new(&agent.worker);
	if (!err)
		err = name_cache_new(&agent.cache);
	if (!err)
		err = recording_new(&agent.recording, &options->record, &agent.signals);
	if (!err)
		err = run_it(&agent);
	while (agent.n_closed)
		end_naming(&agent);
	recording_free(agent.recording);
	name_cache_free(agent.cache);
	worker_free(agent.worker);
	answers_free(agent.answers);
	shipping_free(agent.shipping);
	notify_end(&agent.notify);
	signals_close(&agent.signals);
	return err;
}
