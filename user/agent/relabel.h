/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that change the labels of series, or drop series, as Prometheus has them
 * (relabel_config), with POSIX's extended regular expressions in place of RE2: no \d, no
 * (?:…), no lazy *?, [[:digit:]] instead. A regex matches the whole of a value.
 */
#ifndef WEFT_AGENT_RELABEL_H
#define WEFT_AGENT_RELABEL_H

#include "agent/label_set.h"

#include <regex.h>

#define RELABEL_RULES_MAX   64
#define RELABEL_SOURCES_MAX 16
#define RELABEL_GROUPS_MAX  10 /* $0 to $9 */

enum relabel_action {
	RELABEL_REPLACE,
	RELABEL_KEEP,
	RELABEL_DROP,
	RELABEL_KEEPEQUAL,
	RELABEL_DROPEQUAL,
	RELABEL_HASHMOD,
	RELABEL_LABELMAP,
	RELABEL_LABELDROP,
	RELABEL_LABELKEEP,
	RELABEL_LOWERCASE,
	RELABEL_UPPERCASE,
};

/* As it is written; strings are borrowed, NULL is not given. */
struct relabel_text {
	const char *title; /* for people */
	enum relabel_action action;
	const char *sources; /* with commas */
	const char *separator, *regex, *target, *replacement;
	uint64_t modulus; /* 0: not given */
};

struct relabel_rule {
	enum relabel_action action;
	char *source_text; /* owned */
	const char *sources[RELABEL_SOURCES_MAX];
	size_t n_sources;
	const char *separator, *target, *replacement;
	uint64_t modulus;
	regex_t regex;
};

/* 0, or a negative errno with sentence and hint: what the rule lacks. */
int relabel_rule_new(struct relabel_rule **ret, const struct relabel_text *text);
void relabel_rule_free(struct relabel_rule *rule);
DEFINE_FREEP(relabel_rule)

/* In turn. False: a rule dropped it. */
bool relabel(struct relabel_rule *const *rules, size_t n, struct label_set *set);

#endif
