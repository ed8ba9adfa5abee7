/* SPDX-License-Identifier: BSD-2-Clause */
/* What `weft agent` reads from its command line and from its configuration. */
#ifndef WEFT_CLI_AGENT_LINE_H
#define WEFT_CLI_AGENT_LINE_H

#include "agent/agent.h"
#include "cli/options.h"

enum log_format { LOG_TEXT, LOG_LOGFMT, LOG_JSON };

/* [receiver NAME] */
struct receiver_line {
	char *title; /* owned */
	const char *kind, *url;
	struct string_list headers;
	const char *bearer_token_file, *user, *password_file, *ca_file, *proxy;
	uint64_t timeout_ns;
	char *full_url, *token, *password, *ca_text; /* owned */
};

struct agent_line {
	struct agent_options agent; /* options fill this */
	const char *config;
	bool only_check, quiet, verbose;
	unsigned int log_format; /* enum log_format */
	struct string_list pushes, labels;
	const char *keep_format, *listen_token_file;
	struct receiver_line receivers[AGENT_RECEIVERS_MAX];
	/* owned */
	char *cgroup, *symfs, *config_text, *listen_token;
	char *texts[AGENT_LABELS_MAX];
	size_t n_texts;
	char host[65];
};

/* The names of receivers' kinds with "=", to be offered. */
const char *agent_kind(const void *none, size_t i);

/* Reads the configuration, what the command line does not say, and makes receivers and
 * labels of both. 0, or a negative errno with sentence and hint. */
int agent_line_read(struct agent_line *line, const struct option *options,
		    const struct given *given);
void agent_line_free(struct agent_line *line); /* what it owns */

#endif
