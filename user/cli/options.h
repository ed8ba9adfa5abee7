/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines as data: a command lists its options, each with the place in
 * the command's own struct where its value goes, and one parser reads them
 * all. What an option means together with others, or with the machine, is the
 * command's own check (check.h).
 */
#ifndef WEFT_CLI_OPTIONS_H
#define WEFT_CLI_OPTIONS_H

#include "base/nearest.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_END, /* of the list */
	OPTION_HEADING,
	OPTION_FLAG,	 /* bool */
	OPTION_STRING,	 /* const char *, not empty, borrowed from argv; one of the
			    words, if there are any */
	OPTION_UNSIGNED, /* unsigned int, least to most */
	OPTION_DURATION, /* uint64_t in ns: 500ms, 10s, 2m, 1h; a bare number is
			    seconds */
	OPTION_BYTES,	 /* uint64_t: 4096, 64K, 256M, 1G */
	OPTION_PERCENT,	 /* unsigned int, in millionths, least to most: 0.5%, or 0.5 */
	OPTION_PIDS,	 /* struct pid_list; repeating the option adds to it */
	OPTION_CHOICE,	 /* unsigned int: the value of one of the words */
	OPTION_BITS,	 /* unsigned int: words with commas, values or-ed */
	OPTION_STRINGS,	 /* struct string_list; repeating the option adds to it */
	OPTION_HABIT,	 /* another tool's, hidden: argument says what to type here */
};

#define STRINGS_LISTED_MAX 32

struct string_list {
	const char *items[STRINGS_LISTED_MAX]; /* borrowed from argv */
	unsigned int n;
};

struct option_word {
	const char *word; /* NULL ends the list */
	unsigned int value;
};

struct option {
	enum option_kind kind;
	char letter;	      /* '\0': none */
	const char *name;     /* long, without dashes */
	const char *argument; /* how help names the value */
	const char *help;     /* lines with '\n'; what is offered follows ": " at its end;
				 NULL: hidden */
	size_t offset;
	unsigned int least, most;
	const struct option_word *words;
	word_source offered; /* to complete, where words are kept elsewhere; keys, where
				the argument has "=" */
};

/* Another tool's option, or only its letter or its name (0, NULL). */
#define HABIT(short_one, long_one, text)                                                 \
	{                                                                                \
		.kind = OPTION_HABIT, .letter = short_one, .name = long_one,             \
		.argument = text                                                         \
	}

#define OPTIONS_MAX 64

/* What was on the command line besides values. */
struct given {
	const struct option *options;
	bool takes_files;   /* set before parsing: arguments without a dash are fine,
			     and any after "--" */
	bool takes_command; /* set before parsing, for what an error says */
	char **files;	    /* these, or NULL */
	unsigned int n_files;
	uint64_t seen; /* bit i: options[i] */
	char **rest;   /* what follows "--", NULL terminated; NULL: no "--", or
			  files follow */
	bool help;     /* -h or --help; parsing ended there */
};

/*
 * Reads argv[0 … argc-1] (no program name) into the struct at `into`, which
 * holds the defaults; what is no option moves to the front of argv. 0, or
 * -EINVAL with sentence and hint.
 */
int options_parse(const struct option *options, int argc, char **argv, void *into,
		  struct given *ret);

bool options_given(const struct given *given, const char *name);

/* By the name that options_help() shows; NULL: there is none, and a sentence says so. */
const struct option *options_find(const struct option *options, const char *name);

/*
 * Two things that can't be asked for together; NULL for b: a command after
 * "--". why completes "…: ", hint says what to do.
 */
struct option_conflict {
	const char *a, *b;
	const char *why, *hint;
};

/* The list ends with a == NULL. 0, or -EINVAL with sentence and hint. */
int options_conflict(const struct given *given, const struct option_conflict *conflicts);

/* What help says of an option, lines with '\n'. */
void option_text(const struct option *option, struct str *out);

/* The options as --help shows them. */
void options_help(const struct option *options, struct str *out);

#endif
