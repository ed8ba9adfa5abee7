// SPDX-License-Identifier: BSD-2-Clause
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

static void bash(struct str *out, const struct cli_command *const *commands, size_t n);
static void zsh(struct str *out, const struct cli_command *const *commands, size_t n);
static void fish(struct str *out, const struct cli_command *const *commands, size_t n);

static const struct {
	const char *name;
	void (*write)(struct str *out, const struct cli_command *const *commands,
		      size_t n);
} shells[] = {
	{ "bash", bash },
	{ "zsh", zsh },
	{ "fish", fish },
};

enum { N_SHELLS = sizeof(shells) / sizeof(*shells) };

static bool takes_value(const struct option *option)
{
	return option->kind != OPTION_FLAG && option->kind != OPTION_HEADING;
}

static bool is_shown(const struct option *option)
{
	return option->help && option->kind != OPTION_HEADING;
}

static bool takes_path(const struct option *option)
{
	return option->argument &&
	       (!strcmp(option->argument, "FILE") || !strcmp(option->argument, "PATH"));
}

/* A word that is chosen goes on after "=". */
static bool takes_key(const struct option *option)
{
	return option->argument && strchr(option->argument, '=');
}

static bool is_repeated(const struct option *option)
{
	return option->kind == OPTION_PIDS || option->kind == OPTION_STRINGS;
}

/* Help's first line, without what a quoted word may not hold. */
static void add_help(struct str *out, const struct option *option, const char *without)
{
	AUTO_STR text = { 0 };

	option_text(option, &text);
	for (const char *s = text.s; s && *s && *s != '\n'; s++)
		str_add_char(out, strchr(without, *s) ? ' ' : *s);
}

static const char *word_of(const struct option *option, size_t i)
{
	if (option->offered)
		return option->offered(NULL, i);
	return option->words ? option->words[i].word : NULL;
}

static bool has_words(const struct option *option)
{
	return word_of(option, 0) != NULL;
}

/* after: what each word ends with. */
static void add_words(struct str *out, const struct option *option, const char *after)
{
	const char *word;

	for (size_t i = 0; (word = word_of(option, i)) != NULL; i++)
		str_addf(out, "%s%s%s", i ? " " : "", word, after);
}

static void add_shells(struct str *out)
{
	for (size_t i = 0; i < N_SHELLS; i++)
		str_addf(out, "%s%s", i ? " " : "", shells[i].name);
}

static void add_commands(struct str *out, const struct cli_command *const *commands,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s ", commands[i]->name);
	str_add(out, "completion help");
}

/* A case of bash's for each option that takes a value. */
static void bash_values(struct str *out, const struct option *options)
{
	for (const struct option *o = options; o->kind != OPTION_END; o++) {
		if (!is_shown(o) || !takes_value(o))
			continue;
		str_addf(out, "\t\t--%s", o->name);
		if (o->letter)
			str_addf(out, " | -%c", o->letter);
		str_add(out, ")\n");
		if (has_words(o)) {
			if (takes_key(o))
				str_add(out, "\t\t\t[[ $word != *=* ]] || return\n"
					     "\t\t\tcompopt -o nospace 2>/dev/null\n");
			str_add(out, "\t\t\twords='");
			add_words(out, o, takes_key(o) ? "=" : "");
			str_add(out, "' files=''\n");
		} else if (takes_path(o)) {
			str_add(out, "\t\t\twords='' files=yes\n");
		} else {
			str_add(out, "\t\t\treturn\n");
		}
		str_add(out, "\t\t\t;;\n");
	}
	str_add(out, "\t\t*)\n\t\t\t[ -z \"$equals\" ] || return\n\t\t\t;;\n");
}

static void bash_command(struct str *out, const struct cli_command *command)
{
	str_addf(out, "\t%s)\n\t\twords='--help", command->name);
	for (const struct option *o = command->options; o->kind != OPTION_END; o++)
		if (is_shown(o))
			str_addf(out, " --%s", o->name);
	str_addf(out, "' files=%s\n\t\tcase $before in\n",
		 command->takes_files ? "yes" : "");
	bash_values(out, command->options);
	str_add(out, "\t\tesac\n\t\t;;\n");
}

/* The word to complete and the one before it, whether the shell splits words at
 * "=" (COMP_WORDBREAKS) or not. */
static const char bash_head[] =
	"# bash completion of weft; made by: weft completion bash\n"
	"_weft() {\n"
	"\tlocal word='' before='' equals='' prefix='' words='' files='' i\n\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == =* || ${COMP_WORDS[i - 1]} == = ]]; then\n"
	"\t\t\tword+=${COMP_WORDS[i]}\n"
	"\t\telse\n"
	"\t\t\tbefore=$word word=${COMP_WORDS[i]}\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif [[ $word == --*=* ]]; then\n"
	"\t\tequals=yes before=${word%%=*} word=${word#*=}\n"
	"\t\t[[ $COMP_WORDBREAKS == *=* ]] || prefix=$before=\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n";

static const char bash_tail[] =
	"\tesac\n"
	"\tif [ -z \"$files\" ] || [[ $word == -* ]]; then\n"
	"\t\tCOMPREPLY=($(compgen -P \"$prefix\" -W \"$words\" -- \"$word\"))\n"
	"\telse\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tCOMPREPLY=($(compgen -P \"$prefix\" -f -- \"$word\"))\n"
	"\tfi\n"
	"}\n"
	"complete -F _weft weft\n";

static void bash(struct str *out, const struct cli_command *const *commands, size_t n)
{
	str_add(out, bash_head);
	str_add(out, "\t1:*)\n\t\twords='");
	add_commands(out, commands, n);
	str_add(out, " --help --version'\n\t\t;;\n\t2:help)\n\t\twords='");
	add_commands(out, commands, n);
	str_add(out, "'\n\t\t;;\n\t2:completion)\n\t\twords='");
	add_shells(out);
	str_add(out, " --help'\n\t\t;;\n\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < n; i++)
		bash_command(out, commands[i]);
	str_add(out, bash_tail);
}

/* What may stand after the option. */
static void zsh_values(struct str *out, const struct option *o)
{
	if (has_words(o) && takes_key(o)) {
		str_add(out, ":key:compadd -S \"=\" -- ");
		add_words(out, o, "");
	} else if (has_words(o)) {
		str_add(out, ":word:(");
		add_words(out, o, "");
		str_add_char(out, ')');
	} else {
		str_add(out, takes_path(o) ? ":file:_files" : ":value:");
	}
}

/* name: "--output=", "-o+": the value in the same word or in the next. */
static void zsh_option(struct str *out, const struct option *o, const char *name)
{
	str_addf(out, " \\\n\t\t\t'%s%s[", is_repeated(o) ? "*" : "", name);
	add_help(out, o, "'[]:\\");
	str_add_char(out, ']');
	if (takes_value(o))
		zsh_values(out, o);
	str_add_char(out, '\'');
}

static void zsh_command(struct str *out, const struct cli_command *command)
{
	char name[64];

	str_addf(out, "\t%s)\n\t\t_arguments", command->name);
	for (const struct option *o = command->options; o->kind != OPTION_END; o++) {
		if (!is_shown(o))
			continue;
		snprintf(name, sizeof(name), "--%s%s", o->name,
			 takes_value(o) ? "=" : "");
		zsh_option(out, o, name);
		snprintf(name, sizeof(name), "-%c%s", o->letter,
			 takes_value(o) ? "+" : "");
		if (o->letter)
			zsh_option(out, o, name);
	}
	if (command->takes_files)
		str_add(out, " \\\n\t\t\t'*:file:_files'");
	str_add(out, "\n\t\t;;\n");
}

static void zsh(struct str *out, const struct cli_command *const *commands, size_t n)
{
	str_add(out, "#compdef weft\n# zsh completion; made by: weft completion zsh\n"
		     "_weft() {\n\tif ((CURRENT == 2)); then\n\t\tcompadd -- ");
	add_commands(out, commands, n);
	str_add(out, "\n\t\treturn\n\tfi\n\tshift words\n"
		     "\t((CURRENT--))\n\tcase $words[1] in\n");
	for (size_t i = 0; i < n; i++)
		zsh_command(out, commands[i]);
	str_add(out, "\thelp)\n\t\t((CURRENT == 2)) && compadd -- ");
	add_commands(out, commands, n);
	str_add(out, "\n\t\t;;\n\tcompletion)\n\t\t((CURRENT == 2)) && compadd -- ");
	add_shells(out);
	str_add(out, "\n\t\t;;\n\tesac\n}\ncompdef _weft weft\n");
}

static void fish_option(struct str *out, const struct cli_command *command,
			const struct option *o)
{
	str_addf(out, "complete -c weft -n '__fish_seen_subcommand_from %s' -l %s",
		 command->name, o->name);
	if (o->letter)
		str_addf(out, " -s %c", o->letter);
	if (takes_value(o))
		str_add(out, takes_path(o) ? " -r -F" : " -x");
	if (has_words(o)) {
		str_add(out, " -a '");
		add_words(out, o, takes_key(o) ? "=" : "");
		str_add_char(out, '\'');
	}
	str_add(out, " -d '");
	add_help(out, o, "'\\");
	str_add(out, "'\n");
}

static void fish_command(struct str *out, const struct cli_command *command)
{
	str_addf(out, "complete -c weft -f -n __fish_use_subcommand -a %s -d '%s'\n",
		 command->name, command->summary);
	if (!command->takes_files)
		str_addf(out, "complete -c weft -f -n '__fish_seen_subcommand_from %s'\n",
			 command->name);
	for (const struct option *o = command->options; o->kind != OPTION_END; o++)
		if (is_shown(o))
			fish_option(out, command, o);
}

static void fish(struct str *out, const struct cli_command *const *commands, size_t n)
{
	str_add(out, "# fish completion of weft; made by: weft completion fish\n"
		     "complete -c weft -f -n __fish_use_subcommand -a 'completion help'\n"
		     "complete -c weft -f -n '__fish_seen_subcommand_from help' -a '");
	add_commands(out, commands, n);
	str_add(out, "'\ncomplete -c weft -f -n '__fish_seen_subcommand_from completion' "
		     "-a '");
	add_shells(out);
	str_add(out, "'\n");
	for (size_t i = 0; i < n; i++)
		fish_command(out, commands[i]);
}

bool completion_write(struct str *out, const char *shell,
		      const struct cli_command *const *commands, size_t n)
{
	for (size_t i = 0; i < N_SHELLS; i++)
		if (!strcmp(shells[i].name, shell)) {
			shells[i].write(out, commands, n);
			return true;
		}
	return false;
}
