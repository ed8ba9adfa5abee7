/* SPDX-License-Identifier: BSD-2-Clause */
/* What `weft agent` reads from its command line and from its configuration. */
#ifndef WEFT_CLI_AGENT_LINE_H
#define WEFT_CLI_AGENT_LINE_H

#include "agent/agent.h"
#include "cli/options.h"

enum log_format { LOG_TEXT, LOG_LOGFMT, LOG_JSON };

/* [receiver NAME] */
struct receiver_line {
	char *title;		  /* owned */
	uint64_t pushed, in_file; /* bits of its options */
	const char *kind, *url;
	struct string_list headers;
	const char *bearer_token_file, *user, *password_file, *proxy;
	const char *ca_file, *cert_file, *key_file;
	uint64_t timeout_ns;
	/* owned */
	char *full_url, *token, *password, *ca_text, *cert_text, *key_text;
};

/* [relabel NAME] */
struct relabel_line {
	char *title; /* owned */
	uint64_t in_file;
	unsigned int action;
	const char *sources, *separator, *regex, *target, *replacement;
	unsigned int modulus;
};

struct agent_line {
	struct agent_options agent; /* options fill this */
	const char *config;
	uint64_t in_environment, in_file; /* bits of the options */
	bool only_check, only_print, quiet, verbose;
	char *effective;	 /* owned; what to print */
	unsigned int log_format; /* enum log_format */
	struct string_list pushes, labels;
	const char *keep_format, *listen_token_file, *service_from, *environment,
		*trace_attributes;
	struct receiver_line receivers[AGENT_RECEIVERS_MAX];
	struct relabel_line relabels[RELABEL_RULES_MAX]; /* in turn */
	/* owned */
	char *cgroup, *symfs, *environment_text, *config_text, *listen_token, *variables,
		*attributes;
	char *texts[AGENT_LABELS_MAX];
	size_t n_texts;
	char host[65];
};

/* What the sections of receivers and rules have. */
extern const struct option agent_receiver_options[], agent_relabel_options[];

/* The names of receivers' kinds with "=", to be offered. */
const char *agent_kind(const void *none, size_t i);

/* Reads the configuration, what the command line does not say, and makes receivers and
 * labels of both. 0, or a negative errno with sentence and hint. */
int agent_line_read(struct agent_line *line, const struct option *options,
		    const struct given *given);
/* What it says of labels that come from processes; behind agent_line_read(). */
int agent_services_read(struct agent_line *line);

void agent_line_free(struct agent_line *line); /* what it owns */

#endif
