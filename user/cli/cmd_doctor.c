// SPDX-License-Identifier: BSD-2-Clause
/* weft doctor */
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/process_text.h"
#include "doctor/doctor.h"
#include "doctor/doctor_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor_line {
	struct pid_list tgids;
	bool json;
};

#define AT(member) .offset = offsetof(struct doctor_line, member)

static const struct option options[] = {
	{ OPTION_HEADING, .help = "Options" },
	{ OPTION_PIDS, 'p', "pid", "PID[,PID…]",
	  "what weft sees in these processes, instead of\nwhat the machine allows",
	  AT(tgids) },
	{ OPTION_FLAG, 0, "json", NULL, "the same as JSON, on stdout", AT(json) },
	{ OPTION_END },
};
#undef AT

static const char *const state_names[] = { "ok", "limited", "missing" };

/* Colours for a person at a terminal who did not refuse them. */
static bool wants_colours(void)
{
	const char *term = getenv("TERM"), *refused = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(refused && *refused) && term &&
	       strcmp(term, "dumb");
}

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
		"weft can record here, with all it has.",
		"weft can record here; what is limited costs what its line says.",
		"weft can't record here: see what is missing.",
	};
	bool colours = wants_colours();

	for (size_t i = 0; i < n; i++)
		add_row(out, probes, i, colours);
	str_addf(out, "\n%s\n", verdicts[worst_of(probes, n)]);
}

static void add_json(struct str *out, const struct probe_result *probes, size_t n)
{
	str_addf(out, "\"verdict\":\"%s\",\"probes\":[",
		 state_names[worst_of(probes, n)]);
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "%s\n{\"name\":", i ? "," : "");
		str_add_json(out, probes[i].name);
		str_addf(out,
			 ",\"state\":\"%s\",\"what\":", state_names[probes[i].state]);
		str_add_json(out, probes[i].what);
		str_add(out, ",\"todo\":");
		str_add_json(out, probes[i].todo);
		str_add(out, "}");
	}
	str_add(out, "]");
}

static int add_machine(struct str *out, const struct doctor_line *line)
{
	struct probe_result probes[PROBES_MAX];
	size_t n = probe_all(probes);

	if (n < PROBES_MAX)
		doctor_cache(&probes[n++]);
	if (line->json)
		add_json(out, probes, n);
	else
		add_table(out, probes, n);
	return worst_of(probes, n) == PROBE_MISSING ? EXIT_LACKING : EXIT_DONE;
}

static int add_processes(struct str *out, const struct doctor_line *line)
{
	str_add(out, line->json ? "\"processes\":[" : "");
	for (unsigned int i = 0; i < line->tgids.n; i++) {
		AUTO(doctor_process) process = NULL;
		int err = doctor_look(&process, line->tgids.pids[i]);

		if (err)
			return err;
		if (i)
			str_add(out, line->json ? "," : "\n");
		if (line->json)
			process_json(out, process);
		else
			process_text(out, process);
	}
	str_add(out, line->json ? "]" : "");
	return EXIT_DONE;
}

static int run_doctor(const void *arg)
{
	const struct doctor_line *line = arg;
	AUTO_STR out = { 0 };
	int status;

	if (line->json)
		str_addf(&out, "{\"version\":\"%s\",", WEFT_VERSION);
	status = line->tgids.n ? add_processes(&out, line) : add_machine(&out, line);
	if (line->json)
		str_add(&out, "}\n");
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
	.summary = "what this kernel, these privileges and this machine allow",
	.synopsis = "[OPTION…]",
	.about = "Each line says ok, limited or missing; what that costs; and what to "
		 "do.\n"
		 "Exit status 0: weft can record. 3: something that it needs is missing.",
	.examples =
		"  sudo weft doctor\n"
		"  sudo weft doctor -p $(pgrep -n nginx)\n"
		"  sudo weft doctor --json | jq '.probes[] | select(.state != \"ok\")'\n",
	.options = options,
	.line_bytes = sizeof(struct doctor_line),
	.check = check_doctor,
	.run = run_doctor,
};
