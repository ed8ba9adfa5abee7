// SPDX-License-Identifier: BSD-2-Clause
#include "cli/print_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FROM_LINE	 "command line"
#define FROM_ENVIRONMENT "environment"
#define FROM_FILE	 "file"
#define FROM_DEFAULT	 "default"
#define VALUE_COLUMN	 40

/* A section on its way out. */
struct section {
	struct str *out;
	const struct option *options;
	const void *at;				   /* the struct that options fill */
	uint64_t on_line, in_environment, in_file; /* bits of options */
};

static const char *source(const struct section *section, const struct option *option)
{
	uint64_t bit = 1ULL << (option - section->options);

	if (section->on_line & bit)
		return FROM_LINE;
	if (section->in_environment & bit)
		return FROM_ENVIRONMENT;
	return section->in_file & bit ? FROM_FILE : FROM_DEFAULT;
}

static void add_row(struct str *out, const char *name, const char *value,
		    const char *from)
{
	size_t begin = out->n;
	int more;

	str_addf(out, "%s = %s", name, value);
	more = VALUE_COLUMN - (int)(out->n - begin);
	str_addf(out, "%*s ; %s\n", more > 0 ? more : 0, "", from);
}

/* Without who asks: https://name:password@host is https://…@host, each time. */
static void add_text(struct str *out, const char *text)
{
	const char *host;

	while ((host = strstr(text, "://")) != NULL) {
		size_t n = strcspn(host += 3, "/? ");
		const char *at = memrchr(host, '@', n);

		str_add_bytes(out, text, (size_t)(host - text));
		if (at)
			str_add(out, "…");
		text = at ? at : host;
	}
	str_add(out, text);
}

static void add_duration(struct str *out, uint64_t ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {
		{ "h", 3600000000000 },
		{ "m", 60000000000 },
		{ "s", 1000000000 },
		{ "ms", 1000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!(ns % units[i].ns)) {
			str_addf(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].word);
			return;
		}
	str_addf(out, "%.9gs", (double)ns / 1e9);
}

static void add_bytes(struct str *out, uint64_t bytes)
{
	static const char units[] = "TGMK";

	for (unsigned int shift = 40, i = 0; shift; shift -= 10, i++)
		if (!(bytes & ((1ULL << shift) - 1))) {
			str_addf(out, "%" PRIu64 "%c", bytes >> shift, units[i]);
			return;
		}
	str_addf(out, "%" PRIu64, bytes);
}

static const char *word_of(const struct option *option, unsigned int value)
{
	const struct option_word *word = option->words;

	while (word->word && word->value != value)
		word++;
	return word->word ? word->word : "";
}

/* Leaves out empty where nothing is set. */
static void add_value(struct str *out, const struct option *option, const void *place)
{
	const unsigned int *number = place;
	const uint64_t *large = place;
	const char *const *text = place;

	switch (option->kind) {
	case OPTION_FLAG:
		str_add(out, *(const bool *)place ? "yes" : "no");
		break;
	case OPTION_STRING:
		add_text(out, *text ? *text : "");
		break;
	case OPTION_UNSIGNED:
		if (*number)
			str_addf(out, "%u", *number);
		break;
	case OPTION_PERCENT:
		str_addf(out, "%.9g%%", *number / 1e4);
		break;
	case OPTION_CHOICE:
		str_add(out, word_of(option, *number));
		break;
	case OPTION_DURATION:
		if (*large)
			add_duration(out, *large);
		break;
	case OPTION_BYTES:
		add_bytes(out, *large);
		break;
	default:
		break;
	}
}

/* "X-Scope-OrgID: …": the value may be a secret. */
static void add_list(const struct section *section, const struct option *option)
{
	const struct string_list *list =
		(const void *)((const char *)section->at + option->offset);
	bool is_header = !strcmp(option->name, "header");

	for (unsigned int i = 0; i < list->n; i++) {
		AUTO_STR value = { 0 };

		if (is_header)
			str_addf(&value, "%.*s: …", (int)strcspn(list->items[i], ":"),
				 list->items[i]);
		else
			add_text(&value, list->items[i]);
		section->out->failed |= value.failed;
		if (value.s)
			add_row(section->out, option->name, value.s,
				source(section, option));
	}
}

static void add_option(const struct section *section, const struct option *option)
{
	const void *place = (const char *)section->at + option->offset;
	AUTO_STR value = { 0 };

	if (option->kind == OPTION_STRINGS) {
		add_list(section, option);
		return;
	}
	add_value(&value, option, place);
	section->out->failed |= value.failed;
	if (value.n)
		add_row(section->out, option->name, value.s, source(section, option));
	else
		str_addf(section->out, "# %s is not set\n", option->name);
}

/* Those that are what they say: what labels, servers and files come to is told apart. */
static bool is_told_elsewhere(const struct option *option)
{
	static const char *const names[] = { "config", "check-config", "print-config",
					     "push", "label" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(option->name, names[i]))
			return true;
	return false;
}

static void add_section(const struct section *section)
{
	for (const struct option *o = section->options; o->kind != OPTION_END; o++)
		if (o->name && o->kind != OPTION_HABIT && !is_told_elsewhere(o))
			add_option(section, o);
}

/* Given ones come first, then those that all profiles have. */
static void add_labels(const struct section *section, const struct agent_line *line)
{
	const struct option *option = section->options;

	while (option->name ? strcmp(option->name, "label") != 0 : true)
		option++;
	for (size_t i = 0; i < line->agent.n_labels; i++) {
		const struct label *label = &line->agent.labels[i];
		AUTO_STR value = { 0 };

		str_addf(&value, "%s=%s", label->name, label->value);
		section->out->failed |= value.failed;
		if (value.s)
			add_row(section->out, "label", value.s,
				i < line->n_texts ? source(section, option)
						  : FROM_DEFAULT);
	}
}

void print_config(struct str *out, const struct agent_line *line,
		  const struct option *options, const struct given *given)
{
	struct section agent = {
		out, options, line, given->seen, line->in_environment, line->in_file
	};
	bool pushed = options_given(given, "push");

	str_add(out, "[agent]\n");
	add_section(&agent);
	add_labels(&agent, line);
	for (size_t i = 0; i < AGENT_RECEIVERS_MAX && line->receivers[i].title; i++) {
		const struct receiver_line *receiver = &line->receivers[i];
		struct section section = { .out = out,
					   .options = agent_receiver_options,
					   .at = receiver,
					   .in_environment = receiver->pushed,
					   .in_file = receiver->in_file };

		if (pushed)
			section.on_line = receiver->pushed;

		str_addf(out, "\n[receiver %s]\n", receiver->title);
		add_section(&section);
	}
	for (size_t i = 0; i < RELABEL_RULES_MAX && line->relabels[i].title; i++) {
		const struct relabel_line *relabel = &line->relabels[i];
		struct section section = { .out = out,
					   .options = agent_relabel_options,
					   .at = relabel,
					   .in_file = relabel->in_file };

		str_addf(out, "\n[relabel %s]\n", relabel->title);
		add_section(&section);
	}
}
