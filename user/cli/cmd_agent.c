// SPDX-License-Identifier: BSD-2-Clause
/* weft agent */
#include "agent/agent.h"
#include "agent/lottery.h"
#include "base/error.h"
#include "base/library.h"
#include "base/log.h"
#include "base/url.h"
#include "cli/agent_line.h"
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/print_config.h"
#include "cli/reload.h"
#include "cli/terminal.h"
#include "doctor/doctor.h"
#include "record/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In millionths of one CPU: 0.001 % to a thousand CPUs. */
#define CPU_BUDGET     5000
#define CPU_BUDGET_MIN 10
#define CPU_BUDGET_MAX 1000000000

#define AT(member) .offset = offsetof(struct agent_line, member)

static const struct option_word views[] = {
	{ "async", AGENT_ASYNC },
	{ "thread", AGENT_THREAD },
	{ "both", AGENT_BOTH },
	{ 0 },
};

static const struct option_word log_formats[] = {
	{ "text", LOG_TEXT },
	{ "logfmt", LOG_LOGFMT },
	{ "json", LOG_JSON },
	{ 0 },
};

static const struct option options[] = {
	{ OPTION_HEADING, .help = "Configuration" },
	{ OPTION_STRING, 0, "config", "FILE",
	  "read these and more settings from a file; options and\nvariables "
	  "(WEFT_AGENT_FREQ=49) go before it",
	  AT(config) },
	{ OPTION_FLAG, 0, "check-config", NULL,
	  "only say whether the configuration is right", AT(only_check) },
	{ OPTION_FLAG, 0, "print-config", NULL,
	  "only print what it comes to, and where each setting\ncomes from; no secrets",
	  AT(only_print) },

	{ OPTION_HEADING, .help = "How to sample" },
	{ OPTION_UNSIGNED, 'F', "freq", "HZ",
	  "samples per second on each CPU (default 19)", AT(agent.record.hz), .least = 1,
	  .most = 1000000 },
	{ OPTION_DURATION, 0, "window", "TIME",
	  "what one profile covers (1s to 1h; default 10s)", AT(agent.window_ns) },
	{ OPTION_DURATION, 'd', "duration", "TIME",
	  "stop after so long; by default at SIGTERM or Ctrl-C",
	  AT(agent.record.duration_ns) },
	{ OPTION_STRING, 0, "cgroup", "PATH|NAME",
	  "only a cgroup (version 2), or a container's, and\nthose below",
	  AT(agent.record.cgroup) },
	{ OPTION_UNSIGNED, 0, "max-frames", "N",
	  "most frames per stack (16 to 1024; default 512)", AT(agent.record.max_frames),
	  .least = FRAMES_MIN, .most = FRAMES_MAX },
	{ OPTION_UNSIGNED, 0, "unwind-memory", "MB",
	  "kernel memory for unwind tables, at most (default 64)",
	  AT(agent.record.unwind_mb), .least = 1, .most = UNWIND_MB_MAX },
	{ OPTION_STRING, 0, "unwind-cache", "PATH",
	  "folder that keeps unwind tables between runs, or none\n"
	  "(default /var/cache/weft; if not root, ~/.cache/weft)",
	  AT(agent.record.unwind_cache) },

	{ OPTION_HEADING, .help = "Names" },
	{ OPTION_STRING, 0, "symfs", "DIR",
	  "also look below this folder for files with symbols,\nat the paths that they "
	  "have below /",
	  AT(agent.record.symfs) },
	{ OPTION_STRING, 0, "debuginfod", "URLS",
	  "ask these servers for missing debug files; env: those\nof $DEBUGINFOD_URLS; "
	  "none (default): ask nobody",
	  AT(agent.record.debuginfod) },

	{ OPTION_HEADING, .help = "What it may use" },
	{ OPTION_PERCENT, 0, "hosts-sampled", "PERCENT",
	  "of the hosts of a fleet sample, by lot and by the hour\n(default 100%)",
	  AT(agent.hosts_sampled_ppm), .least = 1, .most = LOTTERY_ALL },
	{ OPTION_PERCENT, 0, "cpu-budget", "PERCENT",
	  "of one CPU (default 0.5%): before weft uses more, it\nsamples less often",
	  AT(agent.cpu_budget_ppm), .least = CPU_BUDGET_MIN, .most = CPU_BUDGET_MAX },
	{ OPTION_BYTES, 0, "memory-budget", "BYTES",
	  "of it and the processes that it starts (default 80M):\nnear it, names are "
	  "forgotten, then no new ones looked for",
	  AT(agent.memory_budget_bytes) },
	{ OPTION_BYTES, 0, "kernel-memory-budget", "BYTES",
	  "of the kernel's memory (default 80M and 512K a CPU): unwind\ntables have "
	  "what is left, at most --unwind-memory",
	  AT(agent.record.kernel_bytes_max) },
	{ OPTION_STRING, 0, "stop-file", "PATH",
	  "sample and send nothing while this file exists", AT(agent.stop_file) },

	{ OPTION_HEADING, .help = "Where to send profiles" },
	{ OPTION_STRINGS, 0, "push", "KIND=URL",
	  "send profiles to a server; repeat it for more.\nKIND: ", AT(pushes),
	  .offered = agent_kind },
	{ OPTION_CHOICE, 0, "view", "VIEW",
	  "async: with async callers (default)\nthread: the thread's own stack\n"
	  "both: two profiles per window",
	  AT(agent.views), .words = views },
	{ OPTION_STRINGS, 0, "label", "NAME=VALUE",
	  "a label of all profiles; service_name is weft unless\ngiven, and hostname is "
	  "this machine's",
	  AT(labels) },
	{ OPTION_FLAG, 0, "by-service", NULL,
	  "each process has a service_name of its own, and the\nlabels container_id and "
	  "pod_uid",
	  AT(agent.services.by_service) },
	{ OPTION_STRING, 0, "service-from", "WORDS",
	  "where that name comes from: the first of these that\nhas one, else its first "
	  "thread (default\ncontext,environment,unit)",
	  AT(service_from) },
	{ OPTION_STRING, 0, "environment", "NAMES",
	  "variables of each process's environment that become\nlabels, with commas "
	  "(default none)",
	  AT(environment) },
	{ OPTION_FLAG, 0, "trace-ids", NULL,
	  "also send for which trace and span threads worked,\n"
	  "where OpenTelemetry publishes it",
	  AT(agent.record.trace_ids) },
	{ OPTION_STRING, 0, "trace-attributes", "KEYS",
	  "attributes published there that become labels of\nsamples, with commas: "
	  "http.route (default none)",
	  AT(trace_attributes) },
	{ OPTION_STRING, 0, "spool", "PATH",
	  "folder for profiles that wait to be sent\n(default /var/lib/weft/spool)",
	  AT(agent.spool) },
	{ OPTION_BYTES, 0, "spool-size", "BYTES",
	  "most that may wait for one server; then the oldest is\ndropped (default 256M)",
	  AT(agent.spool_bytes) },
	{ OPTION_DURATION, 0, "spool-age", "TIME",
	  "longest that a profile may wait (default 24h)", AT(agent.spool_age_ns) },
	{ OPTION_STRING, 0, "keep", "PATH", "also keep recordings in this folder",
	  AT(agent.keep) },
	{ OPTION_BYTES, 0, "keep-size", "BYTES",
	  "most that they may take; then the oldest goes\n(default 1G)",
	  AT(agent.keep_bytes) },
	{ OPTION_STRING, 0, "keep-format", "FORMAT",
	  "format of what is kept (default weft): ", AT(keep_format),
	  .offered = writer_name },

	{ OPTION_HEADING, .help = "Who may ask" },
	{ OPTION_STRING, 0, "listen", "ADDRESS",
	  "answer HTTP at 127.0.0.1:9464, or unix:/run/weft/agent.sock:\n/metrics, "
	  "/healthz, /readyz, /debug/pprof/profile, /",
	  AT(agent.listen.address) },
	{ OPTION_STRING, 0, "listen-token-file", "PATH",
	  "who asks must show the token in this file; needed if\nother machines reach "
	  "the "
	  "address",
	  AT(listen_token_file) },

	{ OPTION_HEADING, .help = "What it says" },
	{ OPTION_FLAG, 'q', "quiet", NULL, "no summary at the end", AT(quiet) },
	{ OPTION_FLAG, 'v', "verbose", NULL, "report problems as they happen",
	  AT(verbose) },
	{ OPTION_CHOICE, 0, "log-format", "FORMAT",
	  "text: for people (default)\nlogfmt: time=… level=… msg=…\n"
	  "json: an object per line",
	  AT(log_format), .words = log_formats },
	HABIT('\0', "node", "say --label node=NAME"),
	HABIT('\0', "remote-store-address", "say --push parca=http://HOST:PORT"),
	HABIT('\0', "http-address", "say --listen ADDRESS:PORT"),
	HABIT('\0', "profiling-duration", "say --window TIME"),
	HABIT('\0', "profiling-cpu-sampling-frequency", "say --freq HZ"),
	{ OPTION_END },
};
#undef AT

static void set_defaults(void *arg)
{
	struct agent_line *line = arg;

	line->agent.would_do = reload_is_right;
	line->agent.record.hz = 19;
	line->agent.record.timed = true;
	line->agent.cpu_budget_ppm = CPU_BUDGET;
	line->agent.memory_budget_bytes = 80 << 20;
	line->agent.record.kernel_bytes_max = sampling_kernel_bytes_default();
	line->agent.hosts_sampled_ppm = LOTTERY_ALL;
	line->agent.record.max_frames = FRAMES_DEFAULT;
	line->agent.record.unwind_mb = UNWIND_MB_DEFAULT;
	line->agent.window_ns = 10000000000;
	line->agent.spool = "/var/lib/weft/spool";
	line->agent.spool_bytes = 256 << 20;
	line->agent.spool_age_ns = 24 * 3600000000000;
	line->agent.keep_bytes = 1 << 30;
	line->keep_format = "weft";
	line->service_from = "context,environment,unit";
}

static int check_sampling(struct agent_line *line)
{
	struct agent_options *agent = &line->agent;
	int err = check_rate(agent->record.hz);

	if (err)
		return err;
	if (agent->window_ns < 1000000000 || agent->window_ns > 3600000000000)
		return fail(-EINVAL, "--window: from 1s to 1h");
	err = sampling_check_kernel_bytes(&agent->record);
	if (err)
		return err;
	if (agent->record.cgroup) {
		err = check_cgroup(agent->record.cgroup, &line->cgroup);
		agent->record.cgroup = line->cgroup;
	}
	return err;
}

static int check_names(struct agent_line *line)
{
	struct record_options *record = &line->agent.record;
	int err = check_debuginfod_said(&record->debuginfod);

	if (!err && record->symfs) {
		err = check_symfs(record->symfs, &line->symfs);
		record->symfs = line->symfs;
	}
	if (err || !record->debuginfod)
		return err;
	record->debuginfod_later = true;
	if (!record->unwind_cache || strcmp(record->unwind_cache, "none") != 0)
		return 0;
	fail(-EINVAL, "--debuginfod: without --unwind-cache, weft has no folder for "
		      "debug files");
	return fail_hint(-EINVAL, "give a folder, or drop one of them");
}

/* Not everybody on the network may see what runs here. */
static int check_listener(const struct agent_line *line)
{
	const struct listener_config *listen = &line->agent.listen;
	int is_public = listen->address ? listener_is_public(listen->address) : 0;

	if (is_public < 0)
		return is_public;
	if (listen->token && !*listen->token)
		return fail(-EINVAL, "%s holds no token", line->listen_token_file);
	if (listen->token && strlen(listen->token) >= LISTENER_TOKEN_BYTES)
		return fail(-EINVAL, "%s: a token has at most %d bytes",
			    line->listen_token_file, LISTENER_TOKEN_BYTES - 1);
	if (!is_public || listen->token)
		return 0;
	fail(-EINVAL, "--listen %s: other machines reach it, and anybody could ask",
	     listen->address);
	return fail_hint(-EINVAL,
			 "demand a token, --listen-token-file PATH, or listen at "
			 "127.0.0.1");
}

/* A series of each trace is more than such a server keeps. */
static void warn_of_traces(const struct agent_options *agent)
{
	for (size_t i = 0; agent->record.trace_ids && i < agent->n_receivers; i++)
		if (agent->receivers[i].kind->labels_are_series)
			log_warn("--trace-ids: receiver %s would make a series of each "
				 "trace; send those to an OpenTelemetry receiver",
				 agent->receivers[i].name);
}

/* port: with the colon before it. */
static bool has_port(const char *url, const char *port)
{
	size_t n, n_port = strlen(port);
	const char *server = url_server(url, &n);

	return n >= n_port && !memcmp(server + n - n_port, port, n_port);
}

/* Collectors listen at two ports, and at the first one they take no HTTP requests. */
static void warn_of_grpc(const struct agent_options *agent)
{
	for (size_t i = 0; i < agent->n_receivers; i++)
		if (!strcmp(agent->receivers[i].kind->name, "otlp") &&
		    has_port(agent->receivers[i].target.url, ":4317"))
			log_warn("receiver %s: port 4317 is for OTLP over gRPC, and weft "
				 "sends OTLP over HTTP: use port 4318",
				 agent->receivers[i].name);
}

static int check_ways_out(struct agent_line *line)
{
	struct agent_options *agent = &line->agent;

	agent->keep_writer = writer_named(line->keep_format);
	if (!agent->keep_writer) {
		fail(-EINVAL, "--keep-format '%s': no such format", line->keep_format);
		return fail_hint(-EINVAL, "weft help agent lists them");
	}
	if (agent->n_receivers && library_require("--push", "libcurl"))
		return -ENOSYS;
	if (agent->listen.address && library_require("--listen", "libmicrohttpd"))
		return -ENOSYS;
	if (agent->n_receivers || agent->keep || agent->listen.address)
		return 0;
	fail(-EINVAL, "nobody would get a profile");
	return fail_hint(-EINVAL, "give a server, --push pyroscope=http://localhost:4040,"
				  " or a folder, --keep PATH, or --listen ADDRESS");
}

static void take_log_format(struct agent_line *line)
{
	if (line->log_format == LOG_LOGFMT)
		log_set_sink(terminal_log_logfmt);
	if (line->log_format == LOG_JSON)
		log_set_sink(terminal_log_json);
	if (!line->quiet)
		line->agent.record.summary =
			line->log_format == LOG_TEXT ? terminal_say : terminal_say_logged;
}

static int check_agent(void *arg, const struct given *given)
{
	struct agent_line *line = arg;
	int err = agent_line_read(line, options, given);
	AUTO_STR text = { 0 };

	take_log_format(line);
	if (!err)
		err = agent_services_read(line);
	if (!err)
		err = check_sampling(line);
	if (!err)
		err = check_names(line);
	if (!err)
		err = check_listener(line);
	if (!err)
		err = check_ways_out(line);
	if (!err) {
		warn_of_traces(&line->agent);
		warn_of_grpc(&line->agent);
	}
	if (err || !line->only_print)
		return err;
	print_config(&text, line, options, given);
	err = str_error(&text);
	line->effective = GIVE(text.s);
	return err;
}

static int run_agent(const void *arg)
{
	const struct agent_line *line = arg;
	int err;

	if (line->effective) {
		fputs(line->effective, stdout);
		return 0;
	}
	if (line->only_check) {
		printf("%s is right\n", line->config ? line->config : "all of it");
		return 0;
	}
	if (line->verbose)
		log_set_level(LOG_VERBOSE);
	err = probe_require();
	if (!err)
		err = agent_run(&line->agent);
	return err == AGENT_RELOAD ? reload_now() : err;
}

static void free_agent(void *arg)
{
	agent_line_free(arg);
}

const struct cli_command command_agent = {
	.is_privileged = true,
	.name = "agent",
	.summary = "sample all day and send profiles to servers",
	.synopsis = "[OPTION…]",
	.about = "Samples the whole machine until it is told to stop, and sends a "
		 "profile of each\nwindow to every server. What cannot be sent waits on "
		 "disk. SIGTERM or Ctrl-C sends\nor keeps what there is.",
	.examples = "  sudo weft agent --push pyroscope=http://localhost:4040\n"
		    "  sudo weft agent --push parca=http://localhost:7070 --view both\n"
		    "  sudo weft agent --keep /var/lib/weft/profiles --keep-size 10G\n"
		    "  sudo weft agent --config /etc/weft/agent.ini\n",
	.options = options,
	.line_bytes = sizeof(struct agent_line),
	.set_defaults = set_defaults,
	.check = check_agent,
	.run = run_agent,
	.free = free_agent,
};
