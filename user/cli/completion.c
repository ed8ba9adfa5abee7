// SPDX-License-Identifier: BSD-2-Clause
#include "cli/completion.h"

#include <string.h>

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

/* Help's first line, without what a quoted word may not hold. */
static void add_help(struct str *out, const struct option *option, const char *without)
{
	for (const char *s = option->help; *s && *s != '\n'; s++)
		str_add_char(out, strchr(without, *s) ? ' ' : *s);
}

static void add_words(struct str *out, const struct option *option)
{
	for (const struct option_word *w = option->words; w && w->word; w++)
		str_addf(out, "%s%s", w == option->words ? "" : " ", w->word);
}

/* A case of bash's for each option that has words or a path. */
static void bash_values(struct str *out, const struct option *options)
{
	for (const struct option *o = options; o->kind != OPTION_END; o++) {
		if (!is_shown(o) || !takes_value(o))
			continue;
		str_addf(out, "\t\t--%s", o->name);
		if (o->letter)
			str_addf(out, " | -%c", o->letter);
		str_add(out, ")\n\t\t\t");
		if (o->words) {
			str_add(out, "COMPREPLY=($(compgen -W '");
			add_words(out, o);
			str_add(out, "' -- \"$word\"))");
		} else if (takes_path(o)) {
			str_add(out, "COMPREPLY=($(compgen -f -- \"$word\"))");
		} else {
			str_add(out, "COMPREPLY=()");
		}
		str_add(out, "\n\t\t\treturn\n\t\t\t;;\n");
	}
}

static void bash_command(struct str *out, const struct command *command)
{
	str_addf(out, "\t%s)\n\t\tcase $before in\n", command->name);
	bash_values(out, command->options);
	str_add(out, "\t\tesac\n\t\toptions='--help");
	for (const struct option *o = command->options; o->kind != OPTION_END; o++)
		if (is_shown(o))
			str_addf(out, " --%s", o->name);
	str_addf(out, "'\n\t\tfiles=%s\n\t\t;;\n", command->takes_files ? "yes" : "");
}

static void bash(struct str *out, const struct command *const *commands, size_t n)
{
	str_add(out, "# bash completion of weft; made by: weft completion bash\n"
		     "_weft() {\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} options='' files=''\n"
		     "\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s ", commands[i]->name);
	str_add(out, "help completion --help --version' -- \"$word\"))\n\t\treturn\n"
		     "\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < n; i++)
		bash_command(out, commands[i]);
	str_add(out, "\tesac\n\tif [[ $word == -* ]] || [ -z \"$files\" ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
		     "\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\n"
		     "complete -o filenames -F _weft weft\n");
}

static void zsh_option(struct str *out, const struct option *o)
{
	str_addf(out, " \\\n\t\t\t'--%s[", o->name);
	add_help(out, o, "'[]:\\");
	str_add_char(out, ']');
	if (takes_value(o)) {
		str_addf(out, ":%s:",
			 o->words	 ? "word"
			 : takes_path(o) ? "file"
					 : "value");
		if (o->words) {
			str_add_char(out, '(');
			add_words(out, o);
			str_add_char(out, ')');
		} else if (takes_path(o)) {
			str_add(out, "_files");
		}
	}
	str_add_char(out, '\'');
}

static void zsh(struct str *out, const struct command *const *commands, size_t n)
{
	str_add(out, "#compdef weft\n# zsh completion; made by: weft completion zsh\n"
		     "_weft() {\n\tif ((CURRENT == 2)); then\n\t\tcompadd --");
	for (size_t i = 0; i < n; i++)
		str_addf(out, " %s", commands[i]->name);
	str_add(out, " help completion\n\t\treturn\n\tfi\n\tshift words\n"
		     "\t((CURRENT--))\n\tcase $words[1] in\n");
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "\t%s)\n\t\t_arguments", commands[i]->name);
		for (const struct option *o = commands[i]->options; o->kind != OPTION_END;
		     o++)
			if (is_shown(o))
				zsh_option(out, o);
		if (commands[i]->takes_files)
			str_add(out, " \\\n\t\t\t'*:file:_files'");
		str_add(out, "\n\t\t;;\n");
	}
	str_add(out, "\tesac\n}\ncompdef _weft weft\n");
}

static void fish_option(struct str *out, const struct command *command,
			const struct option *o)
{
	str_addf(out, "complete -c weft -n '__fish_seen_subcommand_from %s' -l %s",
		 command->name, o->name);
	if (o->letter)
		str_addf(out, " -s %c", o->letter);
	if (takes_value(o))
		str_add(out, takes_path(o) ? " -r -F" : " -x");
	if (o->words) {
		str_add(out, " -a '");
		add_words(out, o);
		str_add_char(out, '\'');
	}
	str_add(out, " -d '");
	add_help(out, o, "'\\");
	str_add(out, "'\n");
}

static void fish(struct str *out, const struct command *const *commands, size_t n)
{
	str_add(out, "# fish completion of weft; made by: weft completion fish\n"
		     "complete -c weft -f -n __fish_use_subcommand -a help\n");
	for (size_t i = 0; i < n; i++) {
		str_addf(out,
			 "complete -c weft -f -n __fish_use_subcommand -a %s -d '%s'\n",
			 commands[i]->name, commands[i]->summary);
		if (!commands[i]->takes_files)
			str_addf(out,
				 "complete -c weft -f -n '__fish_seen_subcommand_from "
				 "%s'\n",
				 commands[i]->name);
		for (const struct option *o = commands[i]->options; o->kind != OPTION_END;
		     o++)
			if (is_shown(o))
				fish_option(out, commands[i], o);
	}
}

bool completion_write(struct str *out, const char *shell,
		      const struct command *const *commands, size_t n)
{
	static const struct {
		const char *shell;
		void (*write)(struct str *out, const struct command *const *commands,
			      size_t n);
	} shells[] = {
		{ "bash", bash },
		{ "zsh", zsh },
		{ "fish", fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(shells[i].shell, shell)) {
			shells[i].write(out, commands, n);
			return true;
		}
	return false;
}
