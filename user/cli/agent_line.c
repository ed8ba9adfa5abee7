// SPDX-License-Identifier: BSD-2-Clause
#include "cli/agent_line.h"

#include "base/error.h"
#include "cli/config_file.h"
#include "cli/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_NS     15000000000ULL
#define RECEIVER_BYTES 48 /* of its name: a folder, and a column */
#define AT(member)     .offset = offsetof(struct receiver_line, member)

enum { RECEIVER_KIND, RECEIVER_URL }; /* as they stand here */
const struct option agent_receiver_options[] = {
	{ OPTION_STRING, 0, "kind", "KIND", "", AT(kind) },
	{ OPTION_STRING, 0, "url", "URL", "", AT(url) },
	{ OPTION_STRINGS, 0, "header", "NAME: VALUE", "", AT(headers) },
	{ OPTION_STRING, 0, "bearer-token-file", "PATH", "", AT(bearer_token_file) },
	{ OPTION_STRING, 0, "user", "NAME", "", AT(user) },
	{ OPTION_STRING, 0, "password-file", "PATH", "", AT(password_file) },
	{ OPTION_STRING, 0, "ca-file", "PATH", "", AT(ca_file) },
	{ OPTION_STRING, 0, "cert-file", "PATH", "", AT(cert_file) },
	{ OPTION_STRING, 0, "key-file", "PATH", "", AT(key_file) },
	{ OPTION_STRING, 0, "proxy", "URL", "", AT(proxy) },
	{ OPTION_DURATION, 0, "timeout", "TIME", "", AT(timeout_ns) },
	{ OPTION_END },
};
#undef AT
#define AT(member) .offset = offsetof(struct relabel_line, member)

static const struct option_word actions[] = {
	{ "replace", RELABEL_REPLACE },	    { "keep", RELABEL_KEEP },
	{ "drop", RELABEL_DROP },	    { "keepequal", RELABEL_KEEPEQUAL },
	{ "dropequal", RELABEL_DROPEQUAL }, { "hashmod", RELABEL_HASHMOD },
	{ "labelmap", RELABEL_LABELMAP },   { "labeldrop", RELABEL_LABELDROP },
	{ "labelkeep", RELABEL_LABELKEEP }, { "lowercase", RELABEL_LOWERCASE },
	{ "uppercase", RELABEL_UPPERCASE }, { 0 },
};

const struct option agent_relabel_options[] = {
	{ OPTION_CHOICE, 0, "action", "ACTION", "", AT(action), .words = actions },
	{ OPTION_STRING, 0, "source-labels", "NAMES", "", AT(sources) },
	{ OPTION_STRING, 0, "separator", "TEXT", "", AT(separator) },
	{ OPTION_STRING, 0, "regex", "REGEX", "", AT(regex) },
	{ OPTION_STRING, 0, "target-label", "NAME", "", AT(target) },
	{ OPTION_STRING, 0, "replacement", "TEXT", "", AT(replacement) },
	{ OPTION_UNSIGNED, 0, "modulus", "N", "", AT(modulus), .least = 1,
	  .most = 0xffffffff },
	{ OPTION_END },
};
#undef AT

const char *agent_kind(const void *none, size_t i)
{
	return receiver_name(none, i);
}

static void *agent_place(void *arg, const char *title)
{
	if (!*title)
		return arg;
	fail(-EINVAL, "[agent] has no name");
	return NULL;
}

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	return n && n < RECEIVER_BYTES;
}

static struct receiver_line *receiver_called(struct agent_line *line, const char *title)
{
	struct receiver_line *receiver = line->receivers;

	if (!is_name(title)) {
		fail(-EINVAL, "a receiver needs a name of letters, digits, - and _");
		fail_hint(-EINVAL, "write [receiver main]");
		return NULL;
	}
	for (; receiver < line->receivers + AGENT_RECEIVERS_MAX; receiver++) {
		if (receiver->title && !strcmp(receiver->title, title))
			return receiver;
		if (receiver->title)
			continue;
		receiver->title = strdup(title);
		receiver->timeout_ns = TIMEOUT_NS;
		if (!receiver->title)
			fail(-ENOMEM, "no memory for a receiver");
		return receiver->title ? receiver : NULL;
	}
	fail(-EINVAL, "more than %d receivers", AGENT_RECEIVERS_MAX);
	return NULL;
}

static void *receiver_place(void *arg, const char *title)
{
	return receiver_called(arg, title);
}

static void *relabel_place(void *arg, const char *title)
{
	struct agent_line *line = arg;
	struct relabel_line *relabel = line->relabels;

	if (!is_name(title)) {
		fail(-EINVAL, "a rule needs a name of letters, digits, - and _");
		fail_hint(-EINVAL, "write [relabel drop-shells]");
		return NULL;
	}
	for (; relabel < line->relabels + RELABEL_RULES_MAX; relabel++) {
		if (relabel->title && !strcmp(relabel->title, title))
			return relabel;
		if (relabel->title)
			continue;
		relabel->title = strdup(title);
		if (!relabel->title)
			fail(-ENOMEM, "no memory for a rule");
		return relabel->title ? relabel : NULL;
	}
	fail(-EINVAL, "more than %d rules", RELABEL_RULES_MAX);
	return NULL;
}

static int take_relabel(struct agent_line *line, const struct relabel_line *relabel)
{
	const struct relabel_text text = {
		.title = relabel->title,
		.action = (enum relabel_action)relabel->action,
		.sources = relabel->sources,
		.separator = relabel->separator,
		.regex = relabel->regex,
		.target = relabel->target,
		.replacement = relabel->replacement,
		.modulus = relabel->modulus,
	};
	size_t *n = &line->agent.services.n_rules;
	int err = relabel_rule_new(&line->agent.rules[*n], &text);

	*n += !err;
	return err;
}

/* --push KIND=URL: a receiver that is called as its kind is. */
static int take_push(struct agent_line *line, const char *push)
{
	const char *equals = strchr(push, '=');
	struct receiver_line *receiver;
	char kind[RECEIVER_BYTES];

	if (!equals || (size_t)(equals - push) >= sizeof(kind)) {
		fail(-EINVAL, "--push '%s': not KIND=URL", push);
		return fail_hint(-EINVAL,
				 "write it like pyroscope=http://localhost:4040");
	}
	snprintf(kind, sizeof(kind), "%.*s", (int)(equals - push), push);
	receiver = receiver_called(line, kind);
	if (!receiver)
		return -EINVAL;
	if (receiver->url) {
		fail(-EINVAL, "two receivers called %s", kind);
		return fail_hint(-EINVAL, "name them in a file: --config");
	}
	receiver->kind = receiver->title;
	receiver->url = equals + 1;
	receiver->pushed = 1U << RECEIVER_KIND | 1U << RECEIVER_URL;
	return 0;
}

/* With the path of its kind where it has none. */
static int complete_url(struct receiver_line *receiver, const struct receiver *kind)
{
	const char *host = strstr(receiver->url, "://");
	size_t n = strlen(receiver->url);
	const char *slash;

	if (!host || (strncmp(receiver->url, "http://", 7) != 0 &&
		      strncmp(receiver->url, "https://", 8) != 0)) {
		fail(-EINVAL, "receiver %s: '%s' is no URL", receiver->title,
		     receiver->url);
		return fail_hint(-EINVAL, "write it like http://localhost:4040");
	}
	slash = strchr(host + 3, '/');
	if (slash && !slash[1])
		n--;
	if (asprintf(&receiver->full_url, "%.*s%s", (int)n, receiver->url,
		     slash && slash[1] ? "" : kind->path) < 0)
		return fail(-ENOMEM, "no memory for a URL");
	return 0;
}

/* All that no sender may read. */
static int read_files(struct receiver_line *receiver)
{
	int err = 0;

	if (receiver->bearer_token_file)
		err = config_read_secret(receiver->bearer_token_file, &receiver->token);
	if (!err && receiver->password_file)
		err = config_read_secret(receiver->password_file, &receiver->password);
	if (!err && receiver->ca_file)
		err = config_read_text(receiver->ca_file, &receiver->ca_text);
	if (!err && receiver->cert_file)
		err = config_read_text(receiver->cert_file, &receiver->cert_text);
	if (!err && receiver->key_file)
		err = config_read_private(receiver->key_file, &receiver->key_text);
	return err;
}

static int no_kind(const struct receiver_line *receiver)
{
	AUTO_STR known = { 0 };
	const char *name;

	for (size_t i = 0; (name = receiver_name(NULL, i)) != NULL; i++)
		str_addf(&known, "%s%s", i ? ", " : "", name);
	fail(-EINVAL, "receiver %s: it needs a kind that weft knows", receiver->title);
	return fail_hint(-EINVAL, "it can be %s", known.s ? known.s : "");
}

static int take_receiver(struct agent_line *line, struct receiver_line *receiver)
{
	struct agent_receiver *into = &line->agent.receivers[line->agent.n_receivers];
	const struct receiver *kind =
		receiver->kind ? receiver_named(receiver->kind) : NULL;
	int err;

	if (!kind)
		return no_kind(receiver);
	if (!receiver->url)
		return fail(-EINVAL, "receiver %s: it needs a url", receiver->title);
	if (receiver->headers.n >= HTTP_HEADERS_MAX)
		return fail(-EINVAL, "receiver %s: more than %d headers", receiver->title,
			    HTTP_HEADERS_MAX - 1);
	if (!receiver->cert_file != !receiver->key_file)
		return fail(-EINVAL, "receiver %s: cert-file and key-file go together",
			    receiver->title);
	err = complete_url(receiver, kind);
	if (!err)
		err = read_files(receiver);
	if (err)
		return err;
	*into = (struct agent_receiver){
		.name = receiver->title,
		.kind = kind,
		.target = { .url = receiver->full_url,
			    .bearer_token = receiver->token,
			    .user = receiver->user,
			    .password = receiver->password,
			    .ca_text = receiver->ca_text,
			    .cert_text = receiver->cert_text,
			    .key_text = receiver->key_text,
			    .proxy = receiver->proxy,
			    .timeout_ms = (long)(receiver->timeout_ns / 1000000) },
	};
	memcpy(into->target.headers, receiver->headers.items,
	       receiver->headers.n * sizeof(*receiver->headers.items));
	line->agent.n_receivers++;
	return 0;
}

static int add_label(struct agent_line *line, const char *name, const char *value)
{
	struct agent_options *agent = &line->agent;

	for (size_t i = 0; i < agent->n_labels; i++)
		if (!strcmp(agent->labels[i].name, name))
			return 0; /* given, and not the usual one */
	if (agent->n_labels == AGENT_LABELS_MAX)
		return fail(-EINVAL, "more than %d labels", AGENT_LABELS_MAX);
	agent->labels[agent->n_labels++] = (struct label){ name, value };
	return 0;
}

static int take_label(struct agent_line *line, const char *text)
{
	char *name = strdup(text), *equals = name ? strchr(name, '=') : NULL;

	if (!name)
		return fail(-ENOMEM, "no memory for a label");
	line->texts[line->n_texts++] = name; /* as many as a list of strings has */
	if (equals)
		*equals = '\0';
	if (equals && label_is_name(name) && strncmp(name, "__", 2) != 0)
		return add_label(line, name, equals + 1);
	fail(-EINVAL, "--label '%s': not NAME=VALUE", text);
	return fail_hint(-EINVAL, "a name has letters, digits and _");
}

static int take_labels(struct agent_line *line)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < line->labels.n; i++)
		err = take_label(line, line->labels.items[i]);
	if (!err && !gethostname(line->host, sizeof(line->host) - 1) && *line->host)
		err = add_label(line, "hostname", line->host);
	for (size_t i = 0; i < line->agent.n_labels; i++)
		line->agent.services.has_service |=
			!strcmp(line->agent.labels[i].name, "service_name");
	return err ? err : add_label(line, "service_name", "weft");
}

int agent_line_read(struct agent_line *line, const struct option *options,
		    const struct given *given)
{
	struct given above = *given;
	const struct config_section sections[] = {
		{ "agent", options, agent_place, offsetof(struct agent_line, in_file),
		  &above },
		{ "receiver", agent_receiver_options, receiver_place,
		  offsetof(struct receiver_line, in_file), NULL },
		{ "relabel", agent_relabel_options, relabel_place,
		  offsetof(struct relabel_line, in_file), NULL },
	};
	int err = environment_read("WEFT_AGENT_", given, line, &line->in_environment,
				   &line->environment_text);

	above.seen |= line->in_environment;
	if (!err && line->config)
		err = config_read(line->config, sections, 3, line, &line->config_text);
	for (unsigned int i = 0; !err && i < line->pushes.n; i++)
		err = take_push(line, line->pushes.items[i]);
	for (size_t i = 0; !err && i < AGENT_RECEIVERS_MAX; i++)
		if (line->receivers[i].title)
			err = take_receiver(line, &line->receivers[i]);
	for (size_t i = 0; !err && i < RELABEL_RULES_MAX && line->relabels[i].title; i++)
		err = take_relabel(line, &line->relabels[i]);
	if (!err && line->listen_token_file)
		err = config_read_secret(line->listen_token_file, &line->listen_token);
	line->agent.listen.token = line->listen_token;
	return err ? err : take_labels(line);
}

void agent_line_free(struct agent_line *line)
{
	for (size_t i = 0; i < AGENT_RECEIVERS_MAX; i++) {
		struct receiver_line *receiver = &line->receivers[i];

		free(receiver->title);
		free(receiver->full_url);
		free(receiver->token);
		free(receiver->password);
		free(receiver->ca_text);
		free(receiver->cert_text);
		free(receiver->key_text);
	}
	for (size_t i = 0; i < RELABEL_RULES_MAX; i++)
		free(line->relabels[i].title);
	for (size_t i = 0; i < line->agent.services.n_rules; i++)
		relabel_rule_free(line->agent.rules[i]);
	for (size_t i = 0; i < line->n_texts; i++)
		free(line->texts[i]);
	free(line->effective);
	free(line->cgroup);
	free(line->symfs);
	free(line->listen_token);
	free(line->variables);
	free(line->attributes);
	free(line->environment_text);
	free(line->config_text);
}
