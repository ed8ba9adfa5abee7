// SPDX-License-Identifier: BSD-2-Clause
#include "agent/relabel.h"

#include "base/error.h"
#include "base/hash.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_SEPARATOR	  ";"
#define USUAL_REGEX	  "(.*)"
#define USUAL_REPLACEMENT "$1"

/* What was matched, and where its groups are; [0] is all of it. */
struct match {
	const char *text;
	regmatch_t groups[RELABEL_GROUPS_MAX];
};

void relabel_rule_free(struct relabel_rule *rule)
{
	if (!rule)
		return;
	regfree(&rule->regex);
	free(rule->source_text);
	free(rule);
}

static int read_sources(struct relabel_rule *rule, const struct relabel_text *text)
{
	char *next, *name;

	rule->source_text = strdup(text->sources ? text->sources : "");
	if (!rule->source_text)
		return fail(-ENOMEM, "no memory for a rule");
	for (next = rule->source_text; (name = strsep(&next, ", "));) {
		if (!*name)
			continue;
		if (!label_is_name(name))
			return fail(-EINVAL, "relabel %s: '%s' is no label", text->title,
				    name);
		if (rule->n_sources == RELABEL_SOURCES_MAX)
			return fail(-EINVAL, "relabel %s: more than %d source-labels",
				    text->title, RELABEL_SOURCES_MAX);
		rule->sources[rule->n_sources++] = name;
	}
	return 0;
}

/* Around the whole, so that $1 is group 2 of what is compiled, and $0 group 1. */
static int compile(struct relabel_rule *rule, const struct relabel_text *text)
{
	AUTO_STR whole = { 0 };
	char why[128];
	int err;

	str_addf(&whole, "^(%s)$", text->regex ? text->regex : USUAL_REGEX);
	if (str_error(&whole))
		return -ENOMEM;
	err = regcomp(&rule->regex, whole.s, REG_EXTENDED);
	if (!err)
		return 0;
	regerror(err, &rule->regex, why, sizeof(why));
	memset(&rule->regex, 0, sizeof(rule->regex));
	fail(-EINVAL, "relabel %s: regex '%s': %s", text->title, text->regex, why);
	return fail_hint(-EINVAL, "it is an extended regular expression of POSIX, "
				  "regex(7): [0-9] for \\d, () for (?:)");
}

static int lacks(const struct relabel_text *text, const char *what)
{
	fail(-EINVAL, "relabel %s: it needs %s", text->title, what);
	return fail_hint(-EINVAL, "man weft-agent has the rules");
}

static int check(const struct relabel_rule *rule, const struct relabel_text *text)
{
	enum relabel_action action = rule->action;
	bool sets = action == RELABEL_REPLACE || action == RELABEL_HASHMOD ||
		    action == RELABEL_LOWERCASE || action == RELABEL_UPPERCASE ||
		    action == RELABEL_KEEPEQUAL || action == RELABEL_DROPEQUAL;
	bool is_by_name = action == RELABEL_LABELMAP || action == RELABEL_LABELDROP ||
			  action == RELABEL_LABELKEEP;

	if (sets && !rule->target)
		return lacks(text, "a target-label");
	if (sets && action != RELABEL_REPLACE && !label_is_name(rule->target))
		return lacks(text, "a target-label of letters, digits and _");
	if (!is_by_name && action != RELABEL_REPLACE && !rule->n_sources)
		return lacks(text, "source-labels");
	if ((is_by_name || action == RELABEL_KEEP || action == RELABEL_DROP) &&
	    !text->regex)
		return lacks(text, "a regex");
	if (action == RELABEL_HASHMOD && !rule->modulus)
		return lacks(text, "a modulus");
	return 0;
}

int relabel_rule_new(struct relabel_rule **ret, const struct relabel_text *text)
{
	AUTO(relabel_rule) rule = calloc(1, sizeof(*rule));
	int err;

	if (!rule)
		return fail(-ENOMEM, "no memory for a rule");
	rule->action = text->action;
	rule->separator = text->separator ? text->separator : USUAL_SEPARATOR;
	rule->target = text->target;
	rule->replacement = text->replacement ? text->replacement : USUAL_REPLACEMENT;
	rule->modulus = text->modulus;
	err = read_sources(rule, text);
	if (!err)
		err = check(rule, text);
	if (!err)
		err = compile(rule, text);
	if (err)
		return err;
	*ret = GIVE(rule);
	return 0;
}

static bool matches(const struct relabel_rule *rule, const char *text, struct match *ret)
{
	regmatch_t groups[RELABEL_GROUPS_MAX + 1];

	if (regexec(&rule->regex, text, RELABEL_GROUPS_MAX + 1, groups, 0))
		return false;
	ret->text = text;
	memcpy(ret->groups, groups + 1, sizeof(ret->groups));
	return true;
}

static void add_group(struct str *out, const struct match *match, const char *name,
		      size_t n)
{
	const regmatch_t *group = &match->groups[name[0] - '0'];

	if (n == 1 && isdigit((unsigned char)name[0]) && group->rm_so >= 0)
		str_add_bytes(out, match->text + group->rm_so,
			      (size_t)(group->rm_eo - group->rm_so));
}

/* $1, ${1}, $$. A group that is not there, and a name, are "". */
static void expand(struct str *out, const char *text, const struct match *match)
{
	static const char in_names[] = "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	str_add(out, "");
	while (*text) {
		size_t plain = strcspn(text, "$"), n;
		bool has_braces;

		str_add_bytes(out, text, plain);
		text += plain;
		if (!*text++)
			break;
		has_braces = *text == '{';
		n = strspn(text + has_braces, in_names);
		if (!n || (has_braces && text[1 + n] != '}')) {
			str_add_char(out, '$'); /* as it stands there */
			text += *text == '$';
			continue;
		}
		add_group(out, match, text + has_braces, n);
		text += n + 2 * has_braces;
	}
}

static void join(struct str *out, const struct relabel_rule *rule,
		 const struct label_set *set)
{
	str_add(out, "");
	for (size_t i = 0; i < rule->n_sources; i++) {
		str_add(out, i ? rule->separator : "");
		str_add(out, label_set_get(set, rule->sources[i]));
	}
}

static void put_if_named(struct label_set *set, const struct str *name, const char *value)
{
	if (name->s && value && label_is_name(name->s))
		label_set_put(set, name->s, value);
}

static void replace(const struct relabel_rule *rule, struct label_set *set,
		    const char *text)
{
	AUTO_STR target = { 0 };
	AUTO_STR value = { 0 };
	struct match match;

	if (!matches(rule, text, &match))
		return;
	expand(&target, rule->target, &match);
	expand(&value, rule->replacement, &match);
	set->text.failed |= target.failed | value.failed;
	put_if_named(set, &target, value.s);
}

static void map_names(const struct relabel_rule *rule, struct label_set *set)
{
	for (size_t i = 0, n = set->n; i < n; i++) {
		struct label label = label_set_at(set, i);
		AUTO_STR name = { 0 };
		AUTO_STR value = { 0 };
		struct match match;

		if (!matches(rule, label.name, &match))
			continue;
		expand(&name, rule->replacement, &match);
		str_add(&value, label.value);
		set->text.failed |= name.failed | value.failed;
		put_if_named(set, &name, value.s);
	}
}

static void drop_names(const struct relabel_rule *rule, struct label_set *set)
{
	struct match match;

	for (size_t i = 0; i < set->n;)
		if (matches(rule, label_set_at(set, i).name, &match) ==
		    (rule->action == RELABEL_LABELDROP))
			label_set_remove(set, i);
		else
			i++;
}

static void hash_value(const struct relabel_rule *rule, struct label_set *set,
		       const struct str *text)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64,
		 hash_md5_tail(text->s, text->n) % rule->modulus);
	label_set_put(set, rule->target, number);
}

static void change_case(const struct relabel_rule *rule, struct label_set *set,
			struct str *text)
{
	for (size_t i = 0; i < text->n; i++)
		text->s[i] = (char)(rule->action == RELABEL_LOWERCASE
					    ? tolower((unsigned char)text->s[i])
					    : toupper((unsigned char)text->s[i]));
	label_set_put(set, rule->target, text->s);
}

/* False: it is dropped. */
static bool follow(const struct relabel_rule *rule, struct label_set *set)
{
	struct match match;
	AUTO_STR text = { 0 };

	join(&text, rule, set);
	if (text.failed)
		set->text.failed = true;
	if (set->text.failed)
		return true;
	switch (rule->action) {
	case RELABEL_KEEP:
		return matches(rule, text.s, &match);
	case RELABEL_DROP:
		return !matches(rule, text.s, &match);
	case RELABEL_KEEPEQUAL:
		return !strcmp(text.s, label_set_get(set, rule->target));
	case RELABEL_DROPEQUAL:
		return strcmp(text.s, label_set_get(set, rule->target)) != 0;
	case RELABEL_REPLACE:
		replace(rule, set, text.s);
		break;
	case RELABEL_HASHMOD:
		hash_value(rule, set, &text);
		break;
	case RELABEL_LABELMAP:
		map_names(rule, set);
		break;
	case RELABEL_LABELDROP:
	case RELABEL_LABELKEEP:
		drop_names(rule, set);
		break;
	case RELABEL_LOWERCASE:
	case RELABEL_UPPERCASE:
		change_case(rule, set, &text);
		break;
	}
	return true;
}

bool relabel(struct relabel_rule *const *rules, size_t n, struct label_set *set)
{
	for (size_t i = 0; i < n; i++)
		if (!follow(rules[i], set))
			return false;
	return true;
}
