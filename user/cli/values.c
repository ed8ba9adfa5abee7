// SPDX-License-Identifier: BSD-2-Clause
#include "cli/values.h"

#include "base/error.h"
#include "record/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { SHOWN_BYTES = 64 };

/* Born here: every sentence about a value names the option and the value. */
static int bad_value(const struct option *option, const char *value, const char *why)
{
	char shown[SHOWN_BYTES];

	str_clean(shown, sizeof(shown), value, strlen(value));
	return fail(-EINVAL, "--%s '%s': %s", option->name, shown, why);
}

/* Decimal digits only, at s; false when there are none or they exceed most. */
static bool read_digits(const char **s, uint64_t most, uint64_t *ret)
{
	uint64_t value = 0;

	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; ++*s) {
		unsigned int digit = (unsigned int)(**s - '0');

		if (value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

static int read_unsigned(const struct option *option, const char *value,
			 unsigned int *ret)
{
	const char *s = value;
	uint64_t number = 0;
	int err = 0;

	if (!s[strspn(s, "0123456789")] && *s) {
		if (!read_digits(&s, UINT_MAX, &number) || number > option->most)
			err = bad_value(option, value, "too large");
		else if (number < option->least)
			err = bad_value(option, value, "too small");
	} else {
		err = bad_value(option, value, "not a whole number");
	}
	if (err)
		return fail_hint(err, "give a number from %u to %u", option->least,
				 option->most);
	*ret = (unsigned int)number;
	return 0;
}

static uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {
		{ "ms", 1000000 },    { "s", 1000000000 },    { "", 1000000000 },
		{ "m", 60000000000 }, { "h", 3600000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].word, unit))
			return units[i].ns;
	return 0;
}

/* ".25" of a unit, if it is there. False: a dot without digits. */
static bool read_fraction(const char **s, uint64_t unit, uint64_t *ret_ns)
{
	*ret_ns = 0;
	if (**s != '.')
		return true;
	if ((*s)[1] < '0' || (*s)[1] > '9')
		return false;
	while (*++*s >= '0' && **s <= '9') {
		unit /= 10;
		*ret_ns += unit * (uint64_t)(**s - '0');
	}
	return true;
}

static int read_duration(const struct option *option, const char *value, uint64_t *ret_ns)
{
	static const uint64_t longest_ns = 366ULL * 24 * 3600 * 1000000000;
	const char *s = value;
	uint64_t unit = unit_ns(value + strspn(value, "0123456789."));
	uint64_t whole = 0, part = 0;
	int err = 0;

	if (!unit || *s < '0' || *s > '9')
		err = bad_value(option, value, "not a duration");
	else if (!read_digits(&s, longest_ns / unit, &whole))
		err = bad_value(option, value, "longer than a year");
	else if (!read_fraction(&s, unit, &part) || unit_ns(s) != unit)
		err = bad_value(option, value, "not a duration");
	else if (!(whole * unit + part))
		err = bad_value(option, value, "zero");
	if (err)
		return fail_hint(err, "write it like 500ms, 10s, 2m or 1h");
	*ret_ns = whole * unit + part;
	return 0;
}

static int read_bytes(const struct option *option, const char *value, uint64_t *ret)
{
	static const char units[] = "KMGT"; /* 1024 times each other */
	const char *s = value, *unit;
	uint64_t number = 0;
	unsigned int shift = 0;
	int err = 0;

	if (!read_digits(&s, UINT64_MAX, &number) || !number)
		err = bad_value(option, value, "not a number of bytes");
	unit = *s ? strchr(units, *s) : NULL;
	if (unit)
		shift = 10 * (unsigned int)(unit - units + 1);
	if (!err && s[unit != NULL])
		err = bad_value(option, value, "not a number of bytes");
	if (!err && number > UINT64_MAX >> (shift + 1))
		err = bad_value(option, value, "too large");
	if (err)
		return fail_hint(err, "write it like 64K, 256M or 1G");
	*ret = number << shift;
	return 0;
}

/* A millionth is 0.0001 %. */
static int read_percent(const struct option *option, const char *value, unsigned int *ret)
{
	const char *s = value;
	uint64_t whole = 0, part = 0;
	int err = 0;

	if (!read_digits(&s, UINT_MAX / 10000 - 1, &whole) ||
	    !read_fraction(&s, 10000, &part) || (*s && strcmp(s, "%") != 0))
		err = bad_value(option, value, "not a percentage");
	else if (whole * 10000 + part < option->least)
		err = bad_value(option, value, "too small");
	else if (whole * 10000 + part > option->most)
		err = bad_value(option, value, "too large");
	if (err)
		return fail_hint(err, "give %g%% to %g%%", option->least / 1e4,
				 option->most / 1e4);
	*ret = (unsigned int)(whole * 10000 + part);
	return 0;
}

static int read_pids(const struct option *option, const char *value,
		     struct pid_list *list)
{
	const char *s = value;
	uint64_t pid;

	do {
		if (!read_digits(&s, INT_MAX, &pid) || !pid || (*s && *s != ',')) {
			bad_value(option, value, "not a list of process ids");
			return fail_hint(-EINVAL, "write it like 1234 or 1234,1240; by "
						  "name: $(pgrep -d, NAME)");
		}
		if (pid_list_contains(list, (pid_t)pid))
			continue;
		if (list->n == FILTER_PIDS_MAX)
			return fail(-EINVAL, "--%s: more than %d ids", option->name,
				    FILTER_PIDS_MAX);
		list->pids[list->n++] = (pid_t)pid;
	} while (*s++ == ',');
	return 0;
}

static const struct option_word *find_word(const struct option_word *words, const char *s,
					   size_t n)
{
	for (; words->word; words++)
		if (strlen(words->word) == n && !memcmp(words->word, s, n))
			return words;
	return NULL;
}

static int unknown_word(const struct option *option, const char *value)
{
	AUTO_STR known = { 0 };

	for (const struct option_word *w = option->words; w->word; w++)
		str_addf(&known, "%s%s", w == option->words ? "" : ", ", w->word);
	bad_value(option, value, "unknown word");
	return fail_hint(-EINVAL, "it can be %s", known.s ? known.s : "");
}

static int read_choice(const struct option *option, const char *value, unsigned int *ret)
{
	const struct option_word *word = find_word(option->words, value, strlen(value));

	if (!word)
		return unknown_word(option, value);
	*ret = word->value;
	return 0;
}

static int read_string(const struct option *option, const char *value, const char **ret)
{
	if (!*value)
		return bad_value(option, value, "empty");
	if (option->words && !find_word(option->words, value, strlen(value)))
		return unknown_word(option, value);
	*ret = value;
	return 0;
}

static int read_strings(const struct option *option, const char *value,
			struct string_list *list)
{
	if (list->n == STRINGS_LISTED_MAX)
		return fail(-EINVAL, "--%s: given more than %d times", option->name,
			    STRINGS_LISTED_MAX);
	return read_string(option, value, &list->items[list->n++]);
}

static int read_bits(const struct option *option, const char *value, unsigned int *ret)
{
	unsigned int bits = 0;

	for (const char *s = value;; s++) {
		size_t n = strcspn(s, ",");
		const struct option_word *word = find_word(option->words, s, n);

		if (!word)
			return unknown_word(option, value);
		bits |= word->value;
		s += n;
		if (!*s)
			break;
	}
	*ret = bits;
	return 0;
}

int values_read(const struct option *option, const char *value, void *into)
{
	void *place = (char *)into + option->offset;

	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)place = true;
		return 0;
	case OPTION_STRING:
		return read_string(option, value, place);
	case OPTION_UNSIGNED:
		return read_unsigned(option, value, place);
	case OPTION_DURATION:
		return read_duration(option, value, place);
	case OPTION_BYTES:
		return read_bytes(option, value, place);
	case OPTION_PERCENT:
		return read_percent(option, value, place);
	case OPTION_PIDS:
		return read_pids(option, value, place);
	case OPTION_CHOICE:
		return read_choice(option, value, place);
	case OPTION_BITS:
		return read_bits(option, value, place);
	case OPTION_STRINGS:
		return read_strings(option, value, place);
	case OPTION_END:
	case OPTION_HEADING:
		break;
	case OPTION_HABIT: /* in a file */
		return fail(-EINVAL, "%s: %s", option->name, option->argument);
	}
	return fail(-EINVAL, "--%s takes no value", option->name);
}
