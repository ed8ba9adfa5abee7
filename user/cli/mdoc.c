// SPDX-License-Identifier: BSD-2-Clause
#include "cli/mdoc.h"

#include "format/writer.h"

#include <ctype.h>
#include <string.h>

/* Text that mdoc gives no meaning to. */
static void add_text(struct str *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\')
			str_add(out, "\\e");
		else
			str_add_char(out, s[i]);
	}
}

/* "async: with async callers" tells a word that can be typed. */
static bool tells_word(const struct option *option, const char *line)
{
	const struct option_word *word = option->words;

	for (; word && word->word; word++) {
		size_t n = strlen(word->word);

		if (!strncmp(line, word->word, n) && line[n] == ':')
			return true;
	}
	return false;
}

/* A list of the words, where the help has a line for each. */
static void add_words(struct str *out, const char *help)
{
	str_add(out, ".Bl -tag -width Ds -compact\n");
	while (*help) {
		size_t n = strcspn(help, "\n"), word;

		if (*help != ' ') {
			word = strcspn(help, ":");
			str_add(out, ".It ");
			add_text(out, help, word);
			str_add_char(out, '\n');
			help += word + 1;
			n -= word + 1;
		}
		for (; *help == ' '; n--)
			help++;
		add_text(out, help, n);
		str_add_char(out, '\n');
		help += n + (help[n] == '\n');
	}
	str_add(out, ".El\n");
}

/* A sentence a line, as mdoc wants it: the first letter large, a period last. */
static void add_sentence(struct str *out, const struct option *option)
{
	AUTO_STR help = { 0 };
	size_t start = out->n;

	option_text(option, &help);
	for (const char *s = help.s; s && *s;) {
		size_t line = strcspn(s, "\n");

		add_text(out, s, line);
		s += line;
		if (*s == '\n') {
			str_add_char(out, '\n');
			s++;
		}
	}
	if (str_error(out) || str_error(&help))
		return;
	/* else a word to type */
	if (!option->words && !(option->kind == OPTION_STRINGS && option->offered))
		out->s[start] = (char)toupper((unsigned char)out->s[start]);
	str_add(out, help.n && help.s[help.n - 1] == '.' ? "\n" : ".\n");
}

static void add_argument(struct str *out, const struct option *option)
{
	if (option->argument) {
		str_add(out, " Ar ");
		add_text(out, option->argument, strlen(option->argument));
	}
}

static void add_item(struct str *out, const struct option *option)
{
	str_add(out, ".It ");
	if (option->letter)
		str_addf(out, "Fl %c , ", option->letter);
	str_addf(out, "Fl -%s", option->name);
	add_argument(out, option);
	str_add_char(out, '\n');
	if (tells_word(option, option->help))
		add_words(out, option->help);
	else
		add_sentence(out, option);
}

void mdoc_options(struct str *out, const struct cli_command *command)
{
	bool in_list = false;

	str_add(out, ".Sh OPTIONS\n");
	for (const struct option *o = command->options; o->kind != OPTION_END; o++) {
		if (!o->help)
			continue;
		if (o->kind != OPTION_HEADING) {
			add_item(out, o);
			continue;
		}
		if (in_list)
			str_add(out, ".El\n");
		str_addf(out, ".Ss %s\n.Bl -tag -width Ds\n", o->help);
		in_list = true;
	}
	if (in_list)
		str_add(out, ".El\n");
}

void mdoc_formats(struct str *out)
{
	str_add(out, ".Bl -tag -width Ds\n");
	for (const struct writer *const *w = writers; *w; w++) {
		str_add(out, ".It Pa");
		for (size_t i = 0; i < WRITER_ENDINGS_MAX && (*w)->endings[i]; i++)
			str_addf(out, "%s %s", i ? " ," : "", (*w)->endings[i]);
		str_add_char(out, '\n');
		add_text(out, (*w)->text, strlen((*w)->text));
		str_add_char(out, '\n');
	}
	str_add(out, ".El\n");
}

void mdoc_synopsis(struct str *out, const struct cli_command *command)
{
	str_addf(out, ".Sh NAME\n.Nm weft-%s\n.Nd %s\n.Sh SYNOPSIS\n.Nm weft Cm %s\n",
		 command->name, command->summary, command->name);
	for (const struct option *o = command->options; o->kind != OPTION_END; o++) {
		if (!o->help || o->kind == OPTION_HEADING)
			continue;
		if (o->letter)
			str_addf(out, ".Op Fl %c", o->letter);
		else
			str_addf(out, ".Op Fl -%s", o->name);
		add_argument(out, o);
		str_add_char(out, '\n');
	}
	if (command->takes_command)
		str_add(out, ".Op Fl - Ar command Op Ar argument ...\n");
	if (command->takes_files)
		str_add(out, ".Op Ar FILE ...\n");
}
