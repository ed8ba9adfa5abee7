// SPDX-License-Identifier: BSD-2-Clause
#include "cli/options.h"

#include "base/error.h"
#include "base/nearest.h"
#include "cli/values.h"

#include <errno.h>
#include <string.h>

/* Where the parser stands in argv. */
struct cursor {
	char **argv;
	int argc, i;
	struct given *given;
	const struct option *options;
	void *into;
};

static const char *long_name(const void *arg, size_t i)
{
	const struct option *option = arg;

	for (; option->kind != OPTION_END; option++)
		if (option->name && option->help && i-- == 0)
			return option->name;
	return NULL;
}

static const struct option *find_long(const struct option *options, const char *name,
				      size_t n)
{
	for (; options->kind != OPTION_END; options++)
		if (options->name && strlen(options->name) == n &&
		    !memcmp(options->name, name, n))
			return options;
	return NULL;
}

static int unknown_option(const struct cursor *at, const char *name)
{
	const char *nearest = nearest_word(name, long_name, at->options);

	fail(-EINVAL, "unknown option --%s", name);
	return nearest ? fail_hint(-EINVAL, "did you mean --%s?", nearest)
		       : fail_hint(-EINVAL, "--help lists the options");
}

const struct option *options_find(const struct option *options, const char *name)
{
	const char *nearest = nearest_word(name, long_name, options);
	const struct option *option = find_long(options, name, strlen(name));
	char shown[64];

	if (option)
		return option;
	str_clean(shown, sizeof(shown), name, strlen(name));
	fail(-EINVAL, "unknown key '%s'", shown);
	if (nearest)
		fail_hint(-EINVAL, "did you mean %s?", nearest);
	return NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
	for (; options->kind != OPTION_END; options++)
		if (options->letter && options->letter == letter)
			return options;
	return NULL;
}

/* Of numbers the last counts, as one appends it to the command before. Of names, one of
 * them would be left out unsaid. */
static int take_value(struct cursor *at, const struct option *option, const char *value)
{
	uint64_t bit = 1ULL << (option - at->options);

	if (option->kind == OPTION_STRING && at->given->seen & bit) {
		fail(-EINVAL, "--%s is given twice", option->name);
		return fail_hint(-EINVAL, "drop one of them");
	}
	at->given->seen |= bit;
	return values_read(option, value, at->into);
}

/* The value is the next argument. */
static int take_next(struct cursor *at, const struct option *option)
{
	if (at->i + 1 >= at->argc) {
		fail(-EINVAL, "--%s needs a value", option->name);
		return fail_hint(-EINVAL, "write --%s %s", option->name,
				 option->argument);
	}
	return take_value(at, option, at->argv[++at->i]);
}

static int explain_habit(const struct option *option, const char *typed)
{
	char shown[64];

	str_clean(shown, sizeof(shown), typed, strcspn(typed, "="));
	return fail(-EINVAL, "%s%s: %s", typed[1] ? "--" : "-", shown, option->argument);
}

static int parse_long(struct cursor *at, const char *arg)
{
	const char *equals = strchr(arg, '=');
	size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct option *option = find_long(at->options, arg, n);
	char name[64];

	if (!strcmp(arg, "help")) {
		at->given->help = true;
		return 0;
	}
	if (!option) {
		str_clean(name, sizeof(name), arg, n);
		return unknown_option(at, name);
	}
	if (option->kind == OPTION_HABIT)
		return explain_habit(option, arg);
	if (option->kind == OPTION_FLAG && equals)
		return fail(-EINVAL, "--%s takes no value", option->name);
	if (option->kind == OPTION_FLAG)
		return take_value(at, option, NULL);
	return equals ? take_value(at, option, equals + 1) : take_next(at, option);
}

/* One or more letters: -q, -aq, -F99, -aF 99. */
static int parse_letters(struct cursor *at, const char *arg)
{
	for (; *arg && !at->given->help; arg++) {
		const struct option *option = find_letter(at->options, *arg);
		int err;

		if (*arg == 'h') {
			at->given->help = true;
			break;
		}
		if (!option) {
			char shown[8];

			str_clean(shown, sizeof(shown), arg, 1);
			fail(-EINVAL, "unknown option -%s", shown);
			return fail_hint(-EINVAL, "--help lists the options");
		}
		if (option->kind == OPTION_HABIT)
			return explain_habit(option, (const char[]){ *arg, '\0' });
		if (option->kind != OPTION_FLAG)
			return arg[1] ? take_value(at, option, arg + 1)
				      : take_next(at, option);
		err = take_value(at, option, NULL);
		if (err)
			return err;
	}
	return 0;
}

static int unexpected(const struct cursor *at, const char *arg)
{
	char shown[64];

	str_clean(shown, sizeof(shown), arg, strlen(arg));
	fail(-EINVAL, "unexpected argument '%s'", shown);
	if (!arg[strspn(arg, "0123456789,")] && find_long(at->options, "pid", 3))
		return fail_hint(-EINVAL, "write process ids with commas: --pid 12,34");
	if (at->given->takes_command)
		return fail_hint(-EINVAL, "write a command to run after --: -- %s",
				 shown);
	return fail_hint(-EINVAL, "options start with a dash; --help lists them");
}

static int take_file(struct cursor *at, char *arg)
{
	if (!at->given->takes_files)
		return unexpected(at, arg);
	at->argv[at->given->n_files++] = arg; /* never past where we read */
	return 0;
}

/* What follows "--": files, whatever they begin with, or a command. */
static int take_rest(struct cursor *at)
{
	int err = 0;

	if (!at->given->takes_files)
		at->given->rest = at->argv + at->i + 1;
	else
		while (!err && ++at->i < at->argc)
			err = take_file(at, at->argv[at->i]);
	return err;
}

int options_parse(const struct option *options, int argc, char **argv, void *into,
		  struct given *ret)
{
	struct cursor at = { argv, argc, 0, ret, options, into };
	int err = 0;

	*ret = (struct given){ .options = options,
			       .takes_files = ret->takes_files,
			       .takes_command = ret->takes_command,
			       .files = argv };
	for (; at.i < argc && !err && !ret->help; at.i++) {
		char *arg = argv[at.i];

		if (!strcmp(arg, "--"))
			return take_rest(&at);
		if (arg[0] != '-' || !arg[1])
			err = take_file(&at, arg);
		else if (arg[1] == '-')
			err = parse_long(&at, arg + 2);
		else
			err = parse_letters(&at, arg + 1);
	}
	return err;
}

bool options_given(const struct given *given, const char *name)
{
	const struct option *option = find_long(given->options, name, strlen(name));

	return option && given->seen & 1ULL << (option - given->options);
}

int options_conflict(const struct given *given, const struct option_conflict *conflicts)
{
	for (; conflicts->a; conflicts++) {
		bool b = conflicts->b ? options_given(given, conflicts->b)
				      : given->rest != NULL;

		if (!b || !options_given(given, conflicts->a))
			continue;
		fail(-EINVAL, "--%s and %s%s: %s", conflicts->a,
		     conflicts->b ? "--" : "a command to run",
		     conflicts->b ? conflicts->b : "", conflicts->why);
		return fail_hint(-EINVAL, "%s", conflicts->hint);
	}
	return 0;
}

/* Characters of UTF-8, each taken for one column. */
static size_t columns(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xc0) != 0x80;
	return count;
}

/* The words with commas, in lines; the first has so many columns before them. */
static void add_offered(const struct option *option, struct str *out, size_t used)
{
	enum { COLUMNS = 52 };
	const char *word;

	for (size_t i = 0; (word = option->offered(NULL, i)) != NULL; i++) {
		size_t n = strlen(word) + !!option->offered(NULL, i + 1);

		if (i && used + 1 + n > COLUMNS)
			used = 0;
		if (i)
			str_add_char(out, used++ ? ' ' : '\n');
		str_addf(out, "%s%s", word, option->offered(NULL, i + 1) ? "," : "");
		used += n;
	}
}

void option_text(const struct option *option, struct str *out)
{
	const char *newline = strrchr(option->help, '\n');
	const char *last = newline ? newline + 1 : option->help;
	size_t n = strlen(last);

	str_add(out, option->help);
	if (option->offered && n && last[n - 1] == ' ')
		add_offered(option, out, n);
}

static void help_option(const struct option *option, struct str *out)
{
	enum { COLUMN = 26 };
	AUTO_STR text = { 0 };
	const char *line;
	size_t start = out->n, used;

	option_text(option, &text);
	line = text.s ? text.s : "";

	if (option->letter)
		str_addf(out, "  -%c, --%s", option->letter, option->name);
	else
		str_addf(out, "      --%s", option->name);
	if (option->argument)
		str_addf(out, " %s", option->argument);
	used = columns(out->s + start, out->n - start);
	while (*line) {
		int n = (int)strcspn(line, "\n");

		if (used + 2 > COLUMN) {
			str_add_char(out, '\n');
			used = 0;
		}
		str_addf(out, "%*s%.*s\n", (int)(COLUMN - used), "", n, line);
		line += n + (line[n] == '\n');
		used = 0;
	}
}

void options_help(const struct option *options, struct str *out)
{
	for (; options->kind != OPTION_END; options++) {
		if (!options->help)
			continue;
		if (options->kind == OPTION_HEADING)
			str_addf(out, "\n%s:\n", options->help);
		else
			help_option(options, out);
	}
}
