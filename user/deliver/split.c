// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/split.h"

#include "base/error.h"
#include "base/intern.h"
#include "base/proto.h"
#include "base/vec.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MAX    4096 /* of a file; weft writes fewer */
#define PAIRS_MAX   256	 /* labels of one */
#define NEEDED_NAME "service_name"
#define USUAL_NAME  "weft"

struct pprof_text {
	const unsigned char *bytes;
	size_t n;
};

struct label_numbers {
	uint64_t key, value; /* numbers of strings */
};

struct labels {
	struct label *items; /* owned, and what they name */
	size_t n;
};

struct split {
	VEC(struct pprof_text) strings;
	bool *is_key; /* by number of string */
	bool is_told;
	struct intern *sets;
	VEC(uint32_t) series_of; /* by sample */
	VEC(struct labels) labels;
};

static void free_labels(struct labels *labels)
{
	for (size_t i = 0; i < labels->n; i++) {
		free((char *)labels->items[i].name);
		free((char *)labels->items[i].value);
	}
	free(labels->items);
}

void split_free(struct split *split)
{
	if (!split)
		return;
	for (size_t i = 0; i < split->labels.n; i++)
		free_labels(&split->labels.items[i]);
	vec_free(&split->strings);
	vec_free(&split->series_of);
	vec_free(&split->labels);
	intern_free(split->sets);
	free(split->is_key);
	free(split);
}

static int read_strings(struct split *split, struct proto proto)
{
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&proto, &field))
		if (field.number == PROFILE_STRING_TABLE && field.wire == PROTO_BYTES)
			err = vec_push(&split->strings,
				       (struct pprof_text){ field.bytes, field.n });
	if (!err && proto.bad)
		err = fail(-EBADMSG, "it is no profile of weft's");
	split->is_key = calloc(split->strings.n + 1, sizeof(bool));
	return err || split->is_key ? err : fail(-ENOMEM, "no memory for series");
}

static void note_key(struct split *split, const char *name, size_t n)
{
	for (size_t i = 1; n && i < split->strings.n; i++)
		if (split->strings.items[i].n == n &&
		    !memcmp(split->strings.items[i].bytes, name, n))
			split->is_key[i] = true;
}

static void read_comment(struct split *split, uint64_t number)
{
	static const char head[] = PPROF_SERIES_COMMENT;
	const size_t n_head = sizeof(head) - 1;
	struct pprof_text text;

	if (number >= split->strings.n)
		return;
	text = split->strings.items[number];
	if (text.n < n_head || memcmp(text.bytes, head, n_head) != 0)
		return;
	split->is_told = true;
	for (size_t at = n_head; at < text.n;) {
		const char *name = (const char *)text.bytes + at;
		const char *end = memchr(name, ' ', text.n - at);
		size_t n = end ? (size_t)(end - name) : text.n - at;

		note_key(split, name, n);
		at += n + 1;
	}
}

static void read_comments(struct split *split, struct proto proto)
{
	struct proto_field field;
	uint64_t number;

	while (proto_next(&proto, &field))
		if (field.number == PROFILE_COMMENT)
			for (size_t at = 0; proto_number(&field, &at, &number);)
				read_comment(split, number);
}

static bool read_label(const struct split *split, const struct proto_field *label,
		       struct label_numbers *ret)
{
	struct proto proto = proto_of(label->bytes, label->n);
	struct proto_field field;

	*ret = (struct label_numbers){ 0 };
	while (proto_next(&proto, &field))
		if (field.number == LABEL_KEY)
			ret->key = field.value;
		else if (field.number == LABEL_STR)
			ret->value = field.value;
	return ret->key < split->strings.n && split->is_key[ret->key] && ret->value &&
	       ret->value < split->strings.n;
}

static int read_sample(struct split *split, const struct proto_field *sample)
{
	struct proto proto = proto_of(sample->bytes, sample->n);
	struct label_numbers pairs[PAIRS_MAX];
	struct proto_field field;
	uint32_t id = 0;
	size_t n = 0;
	int err;

	while (proto_next(&proto, &field))
		if (field.number == SAMPLE_LABEL && field.wire == PROTO_BYTES &&
		    n < PAIRS_MAX)
			n += read_label(split, &field, &pairs[n]);
	err = intern_id(split->sets, pairs, n * sizeof(*pairs), &id);
	if (err == INTERN_FULL)
		return fail(-EBADMSG, "it has more than %d series", SETS_MAX);
	return err ? err : vec_push(&split->series_of, id);
}

static int read_samples(struct split *split, struct proto proto)
{
	struct proto_field field;
	int err = intern_new(&split->sets, SETS_MAX);

	while (!err && proto_next(&proto, &field))
		if (field.number == PROFILE_SAMPLE && field.wire == PROTO_BYTES)
			err = read_sample(split, &field);
		else if (field.number == PROFILE_SAMPLE)
			err = fail(-EBADMSG, "it is no profile of weft's");
	return err;
}

static int add_label(struct labels *labels, struct pprof_text name,
		     struct pprof_text value)
{
	struct label *label = &labels->items[labels->n];

	label->name = strndup((const char *)name.bytes, name.n);
	label->value = strndup((const char *)value.bytes, value.n);
	labels->n++;
	return label->name && label->value ? 0 : fail(-ENOMEM, "no memory for labels");
}

static bool has(const struct labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->n; i++)
		if (!strcmp(labels->items[i].name, name))
			return true;
	return false;
}

static struct pprof_text text_of(const char *s)
{
	return (struct pprof_text){ (const unsigned char *)s, strlen(s) };
}

/* Receivers refuse what has no service_name, which a rule may have taken away. */
static int fill_labels(const struct split *split, const struct label_numbers *pairs,
		       size_t n, struct labels *into)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = add_label(into, split->strings.items[pairs[i].key],
				split->strings.items[pairs[i].value]);
	if (!err && split->is_told && !has(into, NEEDED_NAME))
		err = add_label(into, text_of(NEEDED_NAME), text_of(USUAL_NAME));
	return err;
}

static int make_labels(struct split *split)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < intern_count(split->sets); i++) {
		size_t bytes;
		const struct label_numbers *pairs = intern_bytes(split->sets, i, &bytes);
		size_t n = bytes / sizeof(*pairs);
		struct labels labels = { calloc(n + 1, sizeof(struct label)), 0 };

		err = labels.items ? fill_labels(split, pairs, n, &labels)
				   : fail(-ENOMEM, "no memory for labels");
		if (!err)
			err = vec_push(&split->labels, labels);
		if (err)
			free_labels(&labels);
	}
	return err;
}

int split_new(struct split **ret, const struct str *plain)
{
	AUTO(split) split = calloc(1, sizeof(*split));
	struct proto proto = proto_of(plain->s, plain->n);
	int err;

	if (!split)
		return fail(-ENOMEM, "no memory for series");
	err = read_strings(split, proto);
	if (err)
		return err;
	read_comments(split, proto);
	err = read_samples(split, proto);
	if (!err)
		err = make_labels(split);
	if (err)
		return err;
	*ret = GIVE(split);
	return 0;
}

bool split_is_told(const struct split *split)
{
	return split->is_told;
}

size_t split_count(const struct split *split)
{
	return split->labels.n;
}

const struct label *split_labels(const struct split *split, size_t series, size_t *ret_n)
{
	*ret_n = split->labels.items[series].n;
	return split->labels.items[series].items;
}

struct pprof_pick split_pick(const struct split *split, size_t series)
{
	return (struct pprof_pick){ split->series_of.items, split->series_of.n,
				    (uint32_t)series, split->is_key, split->strings.n };
}
