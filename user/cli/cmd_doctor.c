// SPDX-License-Identifier: BSD-2-Clause
/* weft doctor */
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/process_text.h"
#include "cli/terminal.h"
#include "doctor/doctor.h"
#include "doctor/doctor_cache.h"

#include <string.h>

struct doctor_line {
	struct pid_list tgids;
	bool json;
};

#define AT(member) .offset = offsetof(struct doctor_line, member)

static const struct option options[] = {
	{ OPTION_HEADING, .help = "Options" },
	{ OPTION_PIDS, 'p', "pid", "PID[,PID…]",
	  "show what weft sees in these processes, not what\nthe machine supports",
	  AT(tgids) },
	{ OPTION_FLAG, 0, "json", NULL, "write JSON", AT(json) },
	{ OPTION_END },
};
#undef AT

static const char *const state_names[] = { "ok", "limited", "missing" };

/* The first of them with the same thing to do. */
static const struct probe_result *first_like(const struct probe_result *probes, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(probes[k].todo, probes[i].todo))
			return &probes[k];
	return &probes[i];
}

static void add_row(struct str *out, const struct probe_result *probes, size_t i,
		    bool colours)
{
	static const char *const colour[] = { "\033[32m", "\033[33m", "\033[31m" };
	const struct probe_result *probe = &probes[i], *like = first_like(probes, i);

	str_addf(out, "%s%-8s%s %-23s %s\n", colours ? colour[probe->state] : "",
		 state_names[probe->state], colours ? "\033[0m" : "", probe->name,
		 probe->what);
	if (*probe->todo && like == probe)
		str_addf(out, "%32s -> %s\n", "", probe->todo);
	else if (*probe->todo)
		str_addf(out, "%32s -> as for %s\n", "", like->name);
}

static enum probe_state worst_of(const struct probe_result *probes, size_t n)
{
	enum probe_state worst = PROBE_OK;

	for (size_t i = 0; i < n; i++)
		if (probes[i].state > worst)
			worst = probes[i].state;
	return worst;
}

static void add_table(struct str *out, const struct probe_result *probes, size_t n)
{
	static const char *const verdicts[] = {
		"weft can record here, without limits.",
		"weft can record here; each limited line says what it costs.",
		"weft can't record here: see the lines marked missing.",
	};
	bool colours = terminal_wants_colours();

	for (size_t i = 0; i < n; i++)
		add_row(out, probes, i, colours);
	str_addf(out, "\n%s\n", verdicts[worst_of(probes, n)]);
}

static void add_json(struct json *json, const struct probe_result *probes, size_t n)
{
	json_text(json, "verdict", state_names[worst_of(probes, n)]);
	json_open(json, "probes", '[');
	for (size_t i = 0; i < n; i++) {
		json_line(json);
		json_open(json, NULL, '{');
		json_text(json, "name", probes[i].name);
		json_text(json, "state", state_names[probes[i].state]);
		json_text(json, "what", probes[i].what);
		json_text(json, "todo", probes[i].todo);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* json: NULL for text. */
static int add_machine(struct str *out, struct json *json)
{
	struct probe_result probes[PROBES_MAX];
	size_t n = probe_all(probes);

	if (n < PROBES_MAX)
		doctor_cache(&probes[n++]);
	if (json)
		add_json(json, probes, n);
	else
		add_table(out, probes, n);
	return worst_of(probes, n) == PROBE_MISSING ? EXIT_LACKING : EXIT_DONE;
}

static int add_process(struct str *out, struct json *json, pid_t pid)
{
	AUTO(doctor_process) process = NULL;
	int err = doctor_look(&process, pid);

	if (err)
		return err;
	if (json)
		process_json(json, process);
	else
		process_text(out, process);
	return 0;
}

static int add_processes(struct str *out, struct json *json, const struct pid_list *pids)
{
	int err = 0;

	if (json)
		json_open(json, "processes", '[');
	for (unsigned int i = 0; !err && i < pids->n; i++) {
		if (i && !json)
			str_add_char(out, '\n');
		err = add_process(out, json, pids->pids[i]);
	}
	if (json)
		json_close(json, ']');
	return err ? err : EXIT_DONE;
}

static int run_doctor(const void *arg)
{
	const struct doctor_line *line = arg;
	AUTO_STR out = { 0 };
	struct json writer = { .out = &out }, *json = line->json ? &writer : NULL;
	int status;

	if (json) {
		json_open(json, NULL, '{');
		json_text(json, "version", WEFT_VERSION);
	}
	status = line->tgids.n ? add_processes(&out, json, &line->tgids)
			       : add_machine(&out, json);
	if (json) {
		json_close(json, '}');
		str_add_char(&out, '\n');
	}
	if (status < 0 || str_error(&out))
		return status < 0 ? status : str_error(&out);
	fwrite(out.s, 1, out.n, stdout);
	return status;
}

static int check_doctor(void *arg, const struct given *given)
{
	const struct doctor_line *line = arg;

	return check_processes(&line->tgids);
}

const struct cli_command command_doctor = {
	.is_privileged = true,
	.name = "doctor",
	.summary = "check what kernel, privileges and machine support",
	.synopsis = "[OPTION…]",
	.about = "Each line says ok, limited or missing, what that costs, and what to "
		 "do.\n"
		 "Exit status 0: weft can record. 3: something it needs is missing.",
	.examples =
		"  sudo weft doctor\n"
		"  sudo weft doctor -p $(pgrep -n nginx)\n"
		"  sudo weft doctor --json | jq '.probes[] | select(.state != \"ok\")'\n",
	.options = options,
	.line_bytes = sizeof(struct doctor_line),
	.check = check_doctor,
	.run = run_doctor,
};
