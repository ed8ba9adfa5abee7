// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent.h"

#include "agent/answers.h"
#include "agent/budget_log.h"
#include "agent/greeting.h"
#include "agent/memory.h"
#include "agent/naming.h"
#include "agent/notify.h"
#include "agent/pause.h"
#include "agent/services.h"
#include "agent/shipping.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#define TURN_NS	   (10 * SECOND_NS) /* of the budget; shorter if windows are */
#define END_NS	   (5 * SECOND_NS)  /* for what is left, once we shall end */
#define STOPPED_MS 100
#define RELOAD_NS  (3 * SECOND_NS) /* for what is on its way, while we sample on */

struct agent {
	const struct agent_options *options;
	struct signals signals;
	struct notify notify;
	struct shipping *shipping;
	struct metrics metrics;
	struct answers *answers;     /* NULL: nobody may ask */
	struct recording *recording; /* NULL: metrics.pause says why */
	struct naming *naming;
	struct budget budget;
	struct memory memory;
	struct lottery lottery;
	uint64_t turn_ns; /* when this turn of the budget began, or 0 */
	uint64_t begun_ns, next_close_ns, next_second_ns;
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

/* To all receivers, by the rules; what is kept is kept whole. */
static int send_out(struct agent *agent, const struct recorded_window *w,
		    struct profile *profile)
{
	const struct services_config *config = &agent->options->services;
	const struct services_window window = { window_aggregator(w->window),
						agent->recording->declared };
	AUTO(series) series = NULL;
	uint64_t dropped = 0;
	int err = 0;

	shipping_keep(agent->shipping, profile);
	if (services_apply(config))
		err = services_of(&series, config, &window, profile, &dropped);
	if (err)
		return err;
	agent->metrics.dropped_by_rule += dropped;
	shipping_add(agent->shipping, profile, series);
	return 0;
}

static int ship(void *arg, const struct recorded_window *w, struct profile *profile,
		const struct stats *stats)
{
	struct agent *agent = arg;
	bool is_slowed = w->hz < agent->budget.asked_hz;
	int err = is_slowed ? profile_add_count(profile, "agent.slowed_windows", 1) : 0;

	if (!err)
		err = send_out(agent, w, profile);
	if (err)
		return err;
	agent->windows++;
	agent->samples += stats->aggregator->samples.total;
	agent->lost += stats_losses(stats);
	metrics_add(&agent->metrics, stats);
	agent->metrics.declared = declared_counts(agent->recording->declared);
	agent->metrics.slowed_windows += is_slowed;
	answers_take(agent->answers, profile, w->begun_ns, w->ended_ns);
	return 0;
}

static void take_window(struct agent *agent, struct recorded_window *w)
{
	naming_add(agent->naming, agent->recording, w);
	if (w->ended_ns >= agent->next_close_ns) /* and nobody wished for it earlier */
		agent->next_close_ns += agent->options->window_ns;
	if (agent->next_close_ns < w->ended_ns) /* after a stop of the machine */
		agent->next_close_ns = w->ended_ns + agent->options->window_ns;
}

static int close_window(struct agent *agent, bool is_last)
{
	struct recorded_window *w;
	int err = recording_close_window(agent->recording, is_last, &w);

	if (!err)
		take_window(agent, w);
	return err;
}

static int take_rate(struct agent *agent)
{
	unsigned int before = agent->recording->windows.hz;
	struct recorded_window *w;
	int err;

	if (budget_hz(&agent->budget) == before)
		return 0;
	err = recording_set_hz(agent->recording, budget_hz(&agent->budget), &w);
	if (err)
		return err;
	budget_log_rate(&agent->budget, before);
	agent->metrics.rate_changes++;
	take_window(agent, w);
	return 0;
}

static void measure_kernel(struct agent *agent)
{
	const struct recording *r = agent->recording;
	struct metrics *metrics = &agent->metrics;
	uint64_t before = metrics->kernel_bytes;

	metrics->kernel_bytes =
		sampler_kernel_bytes(r->sampler) + ksyms_kernel_bytes(r->ksyms);
	metrics->unwind_bytes =
		(uint64_t)sampler_publish_maps(r->sampler).n_pages * UNWIND_PAGE_BYTES;
	budget_log_kernel(agent->options, metrics, before);
}

/* What it came to since the last time, and what follows. */
static int turn_budget(struct agent *agent, uint64_t now)
{
	uint64_t window = agent->options->window_ns, begun = agent->turn_ns;
	bool was_broken = budget_is_broken(&agent->budget);
	const struct usage before = agent->metrics.usage;
	struct sampler_totals totals;
	int err;

	/* a change of the rate closes a window */
	if ((begun && now < begun + (window < TURN_NS ? window : TURN_NS)) ||
	    !naming_has_room(agent->naming))
		return 0;
	err = sampler_totals(agent->recording->sampler, &totals);
	if (err)
		return err;
	agent->metrics.usage = usage_now();
	agent->metrics.usage.kernel_ns = totals.ledgers[HOOK_ONCPU].busy_ns;
	agent->turn_ns = now;
	measure_kernel(agent);
	if (!begun)
		return 0;
	budget_add_cpu(&agent->budget, usage_since(&agent->metrics.usage, &before),
		       agent->metrics.usage.kernel_ns - before.kernel_ns, now - begun);
	if (!was_broken && budget_is_broken(&agent->budget))
		budget_log_broken(&agent->budget);
	return take_rate(agent);
}

static bool is_over(struct agent *agent, uint64_t now)
{
	uint64_t duration = agent->options->record.duration_ns;

	if (agent->reload_ns &&
	    (shipping_hold(agent->shipping, true) || now >= agent->reload_ns))
		return true;
	return agent->stop || (duration && now - agent->begun_ns >= duration);
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

/* While windows wait for their names there is work. */
static int pace_ms(const struct agent *agent)
{
	return naming_is_idle(agent->naming) ? recording_pace_ms(agent->recording) : 0;
}

/* Of the recording, if there is one; -1 is nothing to wait for. */
static void fds_of_recording(const struct agent *agent, struct pollfd fds[RECORDING_FDS])
{
	for (size_t i = 0; i < RECORDING_FDS; i++)
		fds[i].fd = -1;
	if (agent->recording)
		recording_fds(agent->recording, fds);
}

static int wait_for_work(struct agent *agent)
{
	struct pollfd fds[RECORDING_FDS + 2 + AGENT_RECEIVERS_MAX] = {
		[RECORDING_FDS] = { .fd = agent->signals.fd, .events = POLLIN },
		[RECORDING_FDS + 1] = { .fd = answers_fd(agent->answers),
					.events = POLLIN },
	};
	size_t n = RECORDING_FDS + 2;
	int err = 0;

	fds_of_recording(agent, fds);
	n += shipping_fds(agent->shipping, fds + n);
	if (agent->recording)
		err = recording_wait(agent->recording, fds, n, pace_ms(agent));
	else if (poll(fds, n, STOPPED_MS) < 0 && errno != EINTR)
		err = fail_errno(-errno, "poll");
	if (fds[RECORDING_FDS].revents)
		heed_signals(agent);
	return err;
}

static uint64_t close_due_ns(const struct agent *agent)
{
	uint64_t wish =
		answers_wish_ns(agent->answers, agent->recording->windows.open->begun_ns);

	return wish < agent->next_close_ns ? wish : agent->next_close_ns;
}

static int close_last(struct agent *agent)
{
	int err = recording_stop(agent->recording);

	if (!err)
		err = recording_drain(agent->recording, true);
	if (!err)
		err = close_window(agent, true);
	naming_hurry(agent->naming);
	while (!err && !naming_is_idle(agent->naming))
		err = naming_step(agent->naming);
	return err;
}

static int start_sampling(struct agent *agent)
{
	int err = naming_new(&agent->naming, ship, agent);

	if (!err)
		err = recording_new(&agent->recording, &agent->options->record,
				    &agent->signals);
	if (!err)
		err = recording_start(agent->recording);
	if (err)
		return err;
	budget_begin(&agent->budget, agent->options->record.hz,
		     agent->options->cpu_budget_ppm / 1e6,
		     agent->options->memory_budget_bytes);
	agent->turn_ns = 0;
	agent->next_close_ns = clock_now_ns() + first_window_ns(agent);
	pause_tell(PAUSE_NONE, agent->metrics.pause, agent->options, &agent->lottery);
	agent->metrics.pause = PAUSE_NONE;
	shipping_hold(agent->shipping, false);
	notify_ready(&agent->notify, "samples");
	return 0;
}

static void free_sampling(struct agent *agent)
{
	naming_free(agent->naming);
	recording_free(agent->recording);
	agent->naming = NULL;
	agent->recording = NULL;
}

/* Nothing is left of it in the kernel. What there was waits in the spools. */
static int stop_sampling(struct agent *agent, enum pause why)
{
	int err = agent->recording ? close_last(agent) : 0;

	if (err)
		return err;
	free_sampling(agent);
	agent->metrics.kernel_bytes = 0;
	agent->metrics.unwind_bytes = 0;
	pause_tell(why, agent->metrics.pause, agent->options, &agent->lottery);
	agent->metrics.pause = why;
	shipping_hold(agent->shipping, why == PAUSE_STOP_FILE);
	answers_refuse(agent->answers);
	notify_ready(&agent->notify, pause_text(why));
	return 0;
}

static int heed_pause(struct agent *agent)
{
	enum pause due = pause_due(agent->options, &agent->lottery);

	if (due == agent->metrics.pause)
		return 0;
	return due ? stop_sampling(agent, due) : start_sampling(agent);
}

static int every_second(struct agent *agent, uint64_t now)
{
	int err;

	if (now < agent->next_second_ns)
		return 0;
	agent->next_second_ns = now + SECOND_NS;
	err = heed_pause(agent);
	if (err || !agent->recording)
		return err;
	agent->metrics.let_go +=
		memory_keep(&agent->memory, &agent->budget, agent->naming, now);
	return sampler_check_cpus(agent->recording->sampler);
}

static int sample_on(struct agent *agent)
{
	uint64_t now;
	int err = recording_pump(agent->recording);

	now = clock_now_ns();
	if (!err && now >= close_due_ns(agent) && naming_has_room(agent->naming))
		err = close_window(agent, false);
	if (!err)
		err = turn_budget(agent, now);
	return err ? err : naming_step(agent->naming);
}

static int loop(struct agent *agent)
{
	uint64_t now = agent->begun_ns;
	enum pause due = pause_due(agent->options, &agent->lottery);
	int err = due ? stop_sampling(agent, due) : start_sampling(agent);

	if (!err && !due && agent->options->record.summary)
		greeting_tell(agent->options);
	while (!err && !is_over(agent, now)) {
		err = wait_for_work(agent);
		if (!err && agent->recording)
			err = sample_on(agent);
		now = clock_now_ns();
		if (!err)
			err = every_second(agent, now);
		shipping_step(agent->shipping);
		answers_step(agent->answers, now);
		notify_alive(&agent->notify, now);
	}
	return err;
}

/* What there is goes to the spool. Signals that come wait for who takes our place. */
static int put_away(struct agent *agent)
{
	int err = agent->recording ? close_last(agent) : 0;

	return err ? err : AGENT_RELOAD;
}

/* What there is goes out, or to the spool. */
static int finish(struct agent *agent)
{
	uint64_t begun = clock_now_ns(), used;
	int err;

	notify_stopping(&agent->notify);
	/* who asks twice does not want to wait */
	signals_let_go("weft: ended before the last profile was ready: it is lost\n");
	if (agent->metrics.pause == PAUSE_STOP_FILE) /* nor does anything go out */
		return 0;
	err = agent->recording ? close_last(agent) : 0;
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
	if (agent->options->services.n_rules)
		str_addf(&text,
			 "  rules     dropped %" PRIu64
			 " of these samples, which go to nobody\n",
			 agent->metrics.dropped_by_rule);
	shipping_summary(&text, agent->shipping);
	if (!str_error(&text))
		record->summary(text.s);
}

static int run_it(struct agent *agent)
{
	int err = loop(agent);

	if (!err)
		err = agent->reload_ns && !agent->stop ? put_away(agent) : finish(agent);
	tell(agent);
	return err;
}

int agent_run(const struct agent_options *options)
{
	struct agent agent = { .options = options,
			       .begun_ns = clock_now_ns(),
			       .metrics = { .begun_unix_ns = clock_unix_ns(),
					    .kernel_bytes_max =
						    options->record.kernel_bytes_max,
					    .budget = &agent.budget } };
	int err = signals_take(&agent.signals);

	budget_begin(&agent.budget, options->record.hz, options->cpu_budget_ppm / 1e6,
		     options->memory_budget_bytes);
	pause_begin(&agent.lottery, options);
	prctl(PR_SET_NAME,
	      "weft"); /* who was started again would be called after /proc */
	notify_begin(&agent.notify);
	if (!err)
		err = shipping_new(&agent.shipping, options);
	if (!err)
		err = answers_new(&agent.answers, options, agent.shipping,
				  &agent.metrics);
	if (!err)
		err = run_it(&agent);
	free_sampling(&agent);
	answers_free(agent.answers);
	shipping_free(agent.shipping);
	notify_end(&agent.notify);
	signals_close(&agent.signals);
	return err;
}
