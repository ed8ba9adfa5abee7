// SPDX-License-Identifier: BSD-2-Clause
#include "agent/metrics.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct outcome_text {
	const char *name;
	bool is_loss;
} outcomes[N_OUTCOMES] = {
#define X(name, loss, text) { #name, loss },
	OUTCOMES(X)
#undef X
};

void metrics_add(struct metrics *metrics, const struct stats *stats)
{
	metrics->windows++;
	metrics->samples += stats->aggregator->samples.total;
	metrics->refused += stats->aggregator->samples.refused;
	metrics->missed_ticks += stats_missed_ticks(stats);
	metrics->debuginfod = stats->debuginfod;
	for (int hook = 0; hook < N_HOOKS; hook++) {
		const struct ledger *ledger = &stats->totals.ledgers[hook];

		for (int i = 0; i < N_OUTCOMES; i++)
			metrics->outcomes[i] += ledger->outcomes[i];
		metrics->kernel_differed += ledger->kernel.differed;
	}
}

static void head(struct str *out, const char *name, const char *type, const char *help)
{
	str_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct str *out, const char *name, const char *type, const char *help,
		double value)
{
	head(out, name, type, help);
	str_addf(out, "%s %.15g\n", name, value);
}

static unsigned int rate(const struct metrics *m)
{
	return m->pause ? 0 : budget_hz(m->budget);
}

static void add_samples(struct str *out, const struct metrics *m)
{
	one(out, "weft_sampling_frequency_hertz", "gauge",
	    "Samples per second on each CPU, as they are taken now.", rate(m));
	one(out, "weft_stopped", "gauge",
	    "1: the stop file exists, so nothing is sampled or sent.",
	    m->pause == PAUSE_STOP_FILE);
	one(out, "weft_resting", "gauge",
	    "1: by the lottery this hour is for other hosts, so nothing is sampled.",
	    m->pause == PAUSE_LOTTERY);
	one(out, "weft_sampling_frequency_asked_hertz", "gauge",
	    "The same, where the budget allows it.", m->budget->asked_hz);
	one(out, "weft_windows_slowed_total", "counter",
	    "Windows at a lower rate, for the budget.", (double)m->slowed_windows);
	one(out, "weft_windows_total", "counter", "Windows that were closed and named.",
	    (double)m->windows);
	one(out, "weft_samples_total", "counter", "Samples in these windows.",
	    (double)m->samples);
	one(out, "weft_samples_dropped_by_rule_total", "counter",
	    "Of these, samples that a relabel rule dropped.", (double)m->dropped_by_rule);
	head(out, "weft_samples_lost_total", "counter",
	     "Samples that are in no profile, by reason.");
	for (int i = 0; i < N_OUTCOMES; i++)
		if (outcomes[i].is_loss) {
			str_add(out, "weft_samples_lost_total{reason=\"");
			str_add_lower(out, outcomes[i].name);
			str_addf(out, "\"} %" PRIu64 "\n", m->outcomes[i]);
		}
	str_addf(out, "weft_samples_lost_total{reason=\"window_full\"} %" PRIu64 "\n",
		 m->refused);
	head(out, "weft_ticks_total", "counter", "Ticks of the sampling, by outcome.");
	for (int i = 0; i < N_OUTCOMES; i++) {
		str_add(out, "weft_ticks_total{outcome=\"");
		str_add_lower(out, outcomes[i].name);
		str_addf(out, "\"} %" PRIu64 "\n", m->outcomes[i]);
	}
	one(out, "weft_ticks_missed_total", "counter",
	    "Ticks that the kernel skipped, estimated.", (double)m->missed_ticks);
	one(out, "weft_kernel_stacks_differed_total", "counter",
	    "Compared kernel stacks that the kernel told otherwise. Behind the first "
	    "it is asked for all of them.",
	    (double)m->kernel_differed);
}

static void add_debug_files(struct str *out, const struct debuginfod_counts *counts)
{
	one(out, "weft_debuginfod_requests_total", "counter",
	    "Debug files that servers were asked for.", (double)counts->asked);
	one(out, "weft_debuginfod_files_total", "counter", "Files that came.",
	    (double)counts->found);
	one(out, "weft_debuginfod_failures_total", "counter",
	    "Requests that brought neither a file nor a no.", (double)counts->failed);
}

static void add_declared(struct str *out, const struct declared_counts *counts)
{
	one(out, "weft_processes_asked_total", "counter",
	    "Processes of which was read what they say of themselves.",
	    (double)counts->read);
	one(out, "weft_processes_refused_total", "counter",
	    "What they say that was left out: it could not be read, or was broken.",
	    (double)counts->refused);
}

static double age_s(const struct shipping_state *state)
{
	uint64_t now_ns = clock_unix_ns();

	if (!state->oldest_unix_ns || state->oldest_unix_ns > now_ns)
		return 0;
	return (double)(now_ns - state->oldest_unix_ns) / SECOND_NS;
}

static double made(const struct shipping_state *s)
{
	return (double)s->spool.added;
}

static double found(const struct shipping_state *s)
{
	return (double)s->spool.found;
}

static double delivered(const struct shipping_state *s)
{
	return (double)s->exporter.delivered;
}

static double refused(const struct shipping_state *s)
{
	return (double)s->exporter.refused;
}

static double dropped(const struct shipping_state *s)
{
	return (double)s->spool.dropped;
}

static double tries(const struct shipping_state *s)
{
	return (double)s->exporter.tries;
}

static double waiting(const struct shipping_state *s)
{
	return (double)s->spool.items;
}

static double waiting_bytes(const struct shipping_state *s)
{
	return (double)s->spool.bytes;
}

static double works(const struct shipping_state *s)
{
	return !s->exporter.is_troubled;
}

static const struct of_receiver {
	const char *name, *type, *help;
	double (*value)(const struct shipping_state *state);
} of_receivers[] = {
	{ "weft_receiver_made_total", "counter", "Profiles for this receiver.", made },
	{ "weft_receiver_found_total", "counter",
	  "Profiles that waited in the spool at the start.", found },
	{ "weft_receiver_delivered_total", "counter", "Profiles that it took.",
	  delivered },
	{ "weft_receiver_refused_total", "counter", "Profiles that it will never take.",
	  refused },
	{ "weft_receiver_dropped_total", "counter",
	  "Profiles that were too old, or too many.", dropped },
	{ "weft_receiver_tries_total", "counter", "Requests to it.", tries },
	{ "weft_receiver_spool_profiles", "gauge", "Profiles that wait.", waiting },
	{ "weft_receiver_spool_bytes", "gauge", "What these take on disk.",
	  waiting_bytes },
	{ "weft_receiver_spool_oldest_seconds", "gauge",
	  "Age of the first that waits; 0 if none does.", age_s },
	{ "weft_receiver_up", "gauge", "0: the last request failed.", works },
};

static void add_receivers(struct str *out, const struct shipping *shipping, size_t n)
{
	for (size_t k = 0; n && k < sizeof(of_receivers) / sizeof(*of_receivers); k++) {
		const struct of_receiver *what = &of_receivers[k];

		head(out, what->name, what->type, what->help);
		for (size_t i = 0; i < n; i++) {
			struct shipping_state state = shipping_state(shipping, i);

			str_addf(out, "%s{receiver=\"%s\"} %.15g\n", what->name,
				 state.receiver, what->value(&state));
		}
	}
	one(out, "weft_profiles_lost_total", "counter",
	    "Profiles that could not be written to the spool.",
	    (double)shipping_lost(shipping));
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void add_budget(struct str *out, const struct metrics *m)
{
	const struct {
		const char *where;
		uint64_t ns;
	} used[] = {
		{ "agent", m->usage.own_ns },
		{ "helpers", m->usage.helpers_ns },
		{ "kernel", m->usage.kernel_ns },
	};

	one(out, "weft_cpu_budget_ratio", "gauge", "What weft may use of one CPU.",
	    m->budget->cpu_max);
	one(out, "weft_cpu_used_ratio", "gauge",
	    "What it used in the last turn of the budget, by all that follows.",
	    m->budget->cpu);
	one(out, "weft_cpu_used_mean_ratio", "gauge", "The same over some six turns.",
	    m->budget->mean);
	head(out, "weft_cpu_seconds", "gauge",
	     "CPU time of the agent and of helpers that ended, of those that are alive, "
	     "and of samples in the kernel, which the BPF program measures.");
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		str_addf(out, "weft_cpu_seconds{where=\"%s\"} %.6f\n", used[i].where,
			 (double)used[i].ns / SECOND_NS);
	one(out, "weft_memory_budget_bytes", "gauge",
	    "What the agent and its helpers may use.", (double)m->budget->bytes_max);
	one(out, "weft_helper_memory_bytes", "gauge",
	    "What its helpers use, beside process_resident_memory_bytes.",
	    (double)usage_helper_bytes());
	one(out, "weft_kernel_memory_budget_bytes", "gauge",
	    "What it may use of the kernel's memory.", (double)m->kernel_bytes_max);
	one(out, "weft_kernel_memory_bytes", "gauge",
	    "Kernel memory of its BPF programs, maps and rings: it grows with unwind "
	    "tables, and with CPUs that come.",
	    (double)m->kernel_bytes);
	one(out, "weft_unwind_memory_bytes", "gauge",
	    "What unwind tables may have of it: what was asked for, or what the budget "
	    "leaves.",
	    (double)m->unwind_bytes);
	one(out, "weft_memory_short", "gauge",
	    "1: it uses more, so names that are not known are not looked for.",
	    m->budget->is_short);
	one(out, "weft_names_let_go_total", "counter",
	    "How often the names of earlier windows were let go for want of memory.",
	    (double)m->let_go);
	one(out, "weft_rate_changes_total", "counter",
	    "How often the budget changed the rate.", (double)m->rate_changes);
}

static void add_process(struct str *out, const struct metrics *m)
{
	struct rusage used = { 0 };

	getrusage(RUSAGE_SELF, &used);
	one(out, "process_cpu_seconds_total", "counter",
	    "CPU time of the agent's own process.",
	    seconds(used.ru_utime) + seconds(used.ru_stime));
	one(out, "process_resident_memory_bytes", "gauge",
	    "Memory of the agent's own process.", (double)usage_resident_bytes());
	one(out, "process_start_time_seconds", "gauge", "When it began, in unix time.",
	    (double)m->begun_unix_ns / 1e9);
	one(out, "weft_listener_restarts_total", "counter",
	    "How often the process that answers here had to be started again.",
	    (double)m->listener_restarts);
}

void metrics_prometheus(struct str *out, const struct metrics *metrics,
			const struct shipping *shipping, size_t n_receivers)
{
	head(out, "weft_build_info", "gauge", "Which weft this is.");
	str_add(out, "weft_build_info{version=\"" WEFT_VERSION "\"} 1\n");
	add_samples(out, metrics);
	add_debug_files(out, &metrics->debuginfod);
	add_declared(out, &metrics->declared);
	add_budget(out, metrics);
	add_receivers(out, shipping, n_receivers);
	add_process(out, metrics);
}

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void add_uses(struct str *out, const struct metrics *m)
{
	str_addf(out,
		 "<p>It uses %.2f of %.2f %% of a CPU, %.1f of %.1f MB, and %.1f of "
		 "%.1f MB of the kernel's memory.\n",
		 100 * m->budget->mean, 100 * m->budget->cpu_max,
		 megabytes(usage_resident_bytes() + usage_helper_bytes()),
		 megabytes(m->budget->bytes_max), megabytes(m->kernel_bytes),
		 megabytes(m->kernel_bytes_max));
}

static void add_row(struct str *out, const struct shipping_state *s)
{
	str_addf(out,
		 "<tr><td>%s<td>%s<td>%" PRIu64 "<td>%" PRIu64 "<td>%.0f s<td>%" PRIu64
		 "<td>%" PRIu64 "\n",
		 s->receiver, s->exporter.is_troubled ? "away" : "takes",
		 s->exporter.delivered, s->spool.items, age_s(s), s->exporter.refused,
		 s->spool.dropped);
}

void metrics_page(struct str *out, const struct metrics *m,
		  const struct shipping *shipping, size_t n_receivers)
{
	uint64_t lost = m->refused;

	for (int i = 0; i < N_OUTCOMES; i++)
		lost += outcomes[i].is_loss ? m->outcomes[i] : 0;
	str_addf(out,
		 "<!doctype html><html lang=en><meta charset=utf-8><title>weft agent"
		 "</title><style>body{font:14px system-ui;margin:1em}td,th{padding:.1em "
		 ".8em;text-align:left}iframe{width:100%%;height:75vh;border:1px solid "
		 "#ccc}</style>\n<p><b>weft " WEFT_VERSION
		 "</b> samples at %u Hz%s%s: %" PRIu64 " windows, %" PRIu64
		 " samples, %" PRIu64 " lost. <a href=metrics>metrics"
		 "</a>\n",
		 rate(m), m->pause ? ", " : "", m->pause ? pause_text(m->pause) : "",
		 m->windows, m->samples, lost);
	add_uses(out, m);
	if (n_receivers)
		str_add(out, "<table><tr><th>receiver<th><th>delivered<th>wait<th>"
			     "oldest<th>refused<th>dropped\n");
	for (size_t i = 0; i < n_receivers; i++) {
		struct shipping_state state = shipping_state(shipping, i);

		add_row(out, &state);
	}
	if (n_receivers)
		str_add(out, "</table>\n");
	str_add(out, "<p>The next window, when it closes "
		     "(<a href=window.html>alone</a>):\n"
		     "<iframe src=window.html title=\"the last window\"></iframe>\n");
}
