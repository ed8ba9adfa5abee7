// SPDX-License-Identifier: BSD-2-Clause
/* What weft agent is told of labels that come from processes. */
#include "base/error.h"
#include "base/str.h"
#include "cli/agent_line.h"
#include "base/resource.h"

#include <errno.h>
#include <string.h>

static const char *const source_words[N_SERVICE_SOURCES] = {
	[SERVICE_CONTEXT] = "context",
	[SERVICE_ENVIRONMENT] = "environment",
	[SERVICE_UNIT] = "unit",
};

/* What weft itself calls labels by. */
static const char *const own_labels[] = { "service_name", "hostname", "container_id",
					  "pod_uid",
#define X(name, key, label) label,
					  RESOURCE_ATTRIBUTES(X)
#undef X
};

/* The next of a list with commas, and maybe blanks; false: that was the last. */
static bool next_word(const char **at, const char **ret, size_t *ret_n)
{
	size_t n = strcspn(*at += strspn(*at, " ,"), " ,");

	*ret = *at;
	*ret_n = n;
	*at += n;
	return n != 0;
}

static int add_source(struct services_config *services, const char *word, size_t n)
{
	for (int source = 0; source < N_SERVICE_SOURCES; source++) {
		if (strlen(source_words[source]) != n ||
		    memcmp(source_words[source], word, n) != 0)
			continue;
		for (size_t i = 0; i < services->n_sources; i++)
			if (services->sources[i] == (enum service_source)source)
				return fail(-EINVAL, "--service-from: '%.*s' twice",
					    (int)n, word);
		services->sources[services->n_sources++] = (enum service_source)source;
		return 0;
	}
	fail(-EINVAL, "--service-from: '%.*s' is none of its words", (int)n, word);
	return fail_hint(-EINVAL, "weft help agent lists them");
}

static int take_sources(struct agent_line *line)
{
	struct services_config *services = &line->agent.services;
	struct declared_options *declared = &line->agent.record.declared;
	const char *at = line->service_from, *word;
	size_t n;

	while (next_word(&at, &word, &n)) {
		int err = add_source(services, word, n);

		if (err)
			return err;
	}
	for (size_t i = 0; services->by_service && i < services->n_sources; i++) {
		declared->by_context |= services->sources[i] == SERVICE_CONTEXT;
		declared->by_environment |= services->sources[i] == SERVICE_ENVIRONMENT;
	}
	return 0;
}

static int check_variable(const char *name)
{
	AUTO_STR label = { 0 };

	if (!label_is_name(name) || !strncmp(name, "__", 2) ||
	    strlen(name) >= DECLARED_NAME_BYTES) {
		fail(-EINVAL, "--environment: '%s' can't be a label", name);
		return fail_hint(-EINVAL, "write names of variables, with commas");
	}
	str_add_lower(&label, name);
	if (str_error(&label))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(own_labels) / sizeof(*own_labels); i++)
		if (!strcmp(own_labels[i], label.s))
			return fail(-EINVAL, "--environment: weft has a label %s itself",
				    label.s);
	return 0;
}

/* Of samples, whatever their process says. */
static const char *const sample_labels[] = { "comm",	   "pid",	"container",
					     "host",	   "trace_id",	"span_id",
					     "async.kind", "async.hops" };

/* OpenTelemetry lets a key be any text; these stand in a list with commas. */
static int check_key(const char *key)
{
	for (const char *s = key; *s; s++)
		if (*s <= ' ' || *s > '~')
			return fail(-EINVAL, "--trace-attributes: '%s' is no plain text",
				    key);
	if (strlen(key) >= DECLARED_NAME_BYTES)
		return fail(-EINVAL, "--trace-attributes: '%s' is too long", key);
	for (size_t i = 0; i < sizeof(sample_labels) / sizeof(*sample_labels); i++)
		if (!strcmp(sample_labels[i], key))
			return fail(-EINVAL,
				    "--trace-attributes: weft has a label %s itself",
				    key);
	return 0;
}

/* An option that is a list of words with commas. */
struct list_option {
	const char *name, *noun;
	unsigned int max;
	int (*check)(const char *word);
};

static int take_list(const char *from, const struct list_option *option, char **ret)
{
	AUTO_STR list = { 0 };
	const char *word;
	unsigned int count = 0;
	size_t n;

	while (next_word(&from, &word, &n)) {
		AUTO_STR one = { 0 };
		int err;

		str_add_bytes(&one, word, n);
		err = str_error(&one) ? -ENOMEM : option->check(one.s);
		if (!err && ++count > option->max)
			err = fail(-EINVAL, "%s: more than %u %s", option->name,
				   option->max, option->noun);
		if (err)
			return err;
		str_addf(&list, "%s%s", list.n ? "," : "", one.s);
	}
	if (str_error(&list))
		return -ENOMEM;
	*ret = GIVE(list.s);
	return 0;
}

static int take_variables(struct agent_line *line)
{
	static const struct list_option option = { "--environment", "variables",
						   DECLARED_VARIABLES_MAX,
						   check_variable };
	int err = take_list(line->environment, &option, &line->variables);

	line->agent.record.declared.variables = line->variables;
	line->agent.services.has_variables = line->variables != NULL;
	return err;
}

static int take_attributes(struct agent_line *line)
{
	static const struct list_option option = { "--trace-attributes", "keys",
						   ATTRIBUTE_NAMES_MAX, check_key };
	int err = take_list(line->trace_attributes, &option, &line->attributes);

	line->agent.record.declared.attributes = line->attributes;
	return err;
}

int agent_services_read(struct agent_line *line)
{
	struct services_config *services = &line->agent.services;
	int err = take_sources(line);

	services->labels = line->agent.labels;
	services->n_labels = line->agent.n_labels;
	services->rules = line->agent.rules;
	if (!err && line->environment)
		err = take_variables(line);
	return err || !line->trace_attributes ? err : take_attributes(line);
}
