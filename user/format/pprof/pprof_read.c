// SPDX-License-Identifier: BSD-2-Clause
/*
 * A profile of pprof, unpacked already: all its bytes are kept, since strings and
 * locations may stand after the samples. There is one view and no time within
 * the profile; of its values the samples' count is read, or what it names as its
 * default.
 */
#include "format/reader.h"
#include "format/pprof/pprof_read_tables.h"
#include "format/stack.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <string.h>

#define PROFILE_BYTES_MAX (1u << 30)

/* gzip makes a thousandth of what is all alike, and profiles a tenth of themselves. So
 * what a file may take of our memory goes by its size. */
#define UNPACKED_BYTES_MIN (64u << 20)
#define UNPACKED_MAX	   100 /* times its size */
#define PIPE_BYTES_MAX	   (256u << 20)

/* Strings, functions and the like take more in our tables than in a file; a file has at
 * most one for each of its bytes. */
#define ITEMS_MIN  (1u << 20)
#define ITEM_BYTES 8

struct parser {
	struct profile *r;
	struct stack_builder b;
	struct pprof_in *tables;
	VEC(struct pair) types; /* a = type, b = unit: strings of the profile */
	uint64_t default_type;
	struct pair period_type;
	uint64_t period;
	struct profile_run run;
	size_t value, weight; /* which of a sample's we take; there may be no weight */
};

/* Two fields at its start that a profile may have, of the wire that they have. */
static bool is_profile(const char *head, size_t n)
{
	struct proto proto = proto_of(head, n);
	struct proto_field field;
	int seen = 0;

	while (seen < 2 && proto_next(&proto, &field)) {
		bool is_number = field.number == PROFILE_TIME_NANOS ||
				 field.number == PROFILE_DURATION_NANOS ||
				 field.number == PROFILE_PERIOD ||
				 field.number == PROFILE_DEFAULT_SAMPLE_TYPE ||
				 field.number == PROFILE_DROP_FRAMES ||
				 field.number == PROFILE_KEEP_FRAMES;

		if (field.number > PROFILE_DEFAULT_SAMPLE_TYPE + 1 ||
		    (field.wire != (is_number ? PROTO_VARINT : PROTO_BYTES) &&
		     field.number != PROFILE_COMMENT))
			return false;
		seen++;
	}
	/* the second may be longer than what we see */
	return seen == 2 || (seen && (!proto.bad || n >= SOURCE_HEAD_BYTES));
}

static struct pair read_type(const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field f;
	struct pair type = { 0, 0 };

	while (proto_next(&proto, &f)) {
		if (f.number == VALUE_TYPE_TYPE)
			type.a = (uint32_t)f.value;
		else if (f.number == VALUE_TYPE_UNIT)
			type.b = (uint32_t)f.value;
	}
	return type;
}

static bool is_text(const struct parser *p, uint32_t id, const char *text)
{
	size_t n;
	const char *s = pprof_in_string(p->tables, id, &n);

	return n == strlen(text) && !memcmp(s, text, n);
}

static int take_string(struct parser *p, uint64_t id, uint32_t *ret)
{
	size_t n;
	const char *s = pprof_in_string(p->tables, id, &n);

	return profile_add_string(p->r, s, n, ret);
}

/* "outcome.kept 123" of a profile that we have written. */
static int take_comment(struct parser *p, uint64_t id)
{
	size_t n, at;
	const char *s = pprof_in_string(p->tables, id, &n);
	char key[128];
	uint64_t value = 0;

	for (at = 0;
	     at < n && ((s[at] >= 'a' && s[at] <= 'z') || s[at] == '_' || s[at] == '.');)
		at++;
	if (!at || at >= sizeof(key) || at + 1 >= n || n > at + 20 || s[at] != ' ' ||
	    !memchr(s, '.', at))
		return 0;
	memcpy(key, s, at);
	key[at] = '\0';
	for (at++; at < n; at++) {
		if (s[at] < '0' || s[at] > '9')
			return 0;
		value = value * 10 + (uint64_t)(s[at] - '0');
	}
	return profile_add_count(p->r, key, value);
}

static int take_field(struct parser *p, const struct proto_field *field)
{
	uint64_t id;

	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		return p->types.n < 64 ? vec_push(&p->types, read_type(field)) : 0;
	case PROFILE_PERIOD_TYPE:
		p->period_type = read_type(field);
		return 0;
	case PROFILE_PERIOD:
		p->period = field->value;
		return 0;
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		p->default_type = field->value;
		return 0;
	case PROFILE_TIME_NANOS:
		p->run.started_unix_ns = field->value;
		return 0;
	case PROFILE_DURATION_NANOS:
		p->run.duration_ns = field->value;
		return 0;
	case PROFILE_COMMENT:
		for (size_t at = 0; proto_number(field, &at, &id);) {
			int err = take_comment(p, id);

			if (err)
				return err;
		}
		return 0;
	default:
		return 0;
	}
}

/* What else is counted in nanoseconds weighs the samples. */
static void find_weight(struct parser *p)
{
	p->weight = p->types.n;
	if (!is_text(p, p->types.items[p->value].b, "count") ||
	    !is_text(p, p->period_type.b, "nanoseconds"))
		return;
	for (size_t i = 0; i < p->types.n; i++)
		if (is_text(p, p->types.items[i].b, "nanoseconds"))
			p->weight = i;
}

/* Samples where they are counted, else the default, else the last: as pprof. */
static int choose_value(struct parser *p)
{
	size_t chosen = p->types.n;
	int err;

	for (size_t i = 0; i < p->types.n; i++)
		if (is_text(p, p->types.items[i].a, "samples") &&
		    is_text(p, p->types.items[i].b, "count"))
			chosen = i;
	for (size_t i = 0; chosen == p->types.n && i < p->types.n; i++)
		if (p->default_type && p->types.items[i].a == p->default_type)
			chosen = i;
	if (!p->types.n)
		return 0;
	p->value = chosen < p->types.n ? chosen : p->types.n - 1;
	find_weight(p);
	err = take_string(p, p->types.items[p->value].a, &p->r->value_type);
	if (!err)
		err = take_string(p, p->types.items[p->value].b, &p->r->value_unit);
	if (is_text(p, p->period_type.b, "nanoseconds"))
		p->r->period_ns = p->period <= PROFILE_PERIOD_MAX_NS ? p->period : 0;
	return err;
}

struct sample {
	const char *comm;
	size_t comm_bytes;
	uint32_t pid, tid;
	int64_t value, weight;
};

static void take_label(const struct parser *p, const struct proto_field *field,
		       struct sample *sample)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field f;
	uint64_t key = 0, text = 0, number = 0;

	while (proto_next(&proto, &f)) {
		if (f.number == LABEL_KEY)
			key = f.value;
		else if (f.number == LABEL_STR)
			text = f.value;
		else if (f.number == LABEL_NUM)
			number = f.value;
	}
	if (text &&
	    (is_text(p, (uint32_t)key, "comm") || is_text(p, (uint32_t)key, "thread")))
		sample->comm = pprof_in_string(p->tables, text, &sample->comm_bytes);
	else if (is_text(p, (uint32_t)key, "pid"))
		sample->pid = (uint32_t)number;
	else if (is_text(p, (uint32_t)key, "tid"))
		sample->tid = (uint32_t)number;
}

static int add_amount(struct parser *p, uint32_t stack, uint32_t thread,
		      const struct sample *sample)
{
	struct timeline_amount amount = { .count = (uint64_t)sample->value };
	uint32_t sample_key;
	int err = timeline_sample_key(&p->r->timeline, (struct pair){ stack, thread },
				      &sample_key);

	if (err == PAIRS_FULL) {
		p->r->timeline.refused += amount.count;
		return 0;
	}
	if (p->weight < p->types.n && sample->weight > 0 &&
	    (uint64_t)sample->weight != timeline_times(amount.count, p->r->period_ns))
		amount.weight_ns = (uint64_t)sample->weight;
	return err ? err
		   : timeline_add_undated_by_key(&p->r->timeline, sample_key, amount);
}

static int count_sample(struct parser *p, const struct sample *sample)
{
	uint32_t stack = PROFILE_NO_STACK, thread = 0;
	int err = stack_finish(&p->b, true, &stack);

	if (!err && (sample->comm_bytes || sample->pid))
		err = stack_thread(p->r,
				   &(struct stack_owner){ sample->comm,
							  sample->comm_bytes, sample->pid,
							  sample->tid },
				   &thread);
	if (err || stack == PROFILE_NO_STACK)
		return err;
	if (sample->value < 0) { /* of a difference; there is no such count */
		p->r->left_out++;
		return 0;
	}
	return add_amount(p, stack, thread, sample);
}

static int take_sample(struct parser *p, const struct proto_field *field)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field f;
	struct sample sample = { .comm = "" };
	size_t n_values = 0;
	uint64_t number;
	int err = 0;

	while (!err && proto_next(&proto, &f)) {
		size_t at = 0;

		if (f.number == SAMPLE_LOCATION_ID)
			while (!err && proto_number(&f, &at, &number))
				err = pprof_in_location(p->tables, number, &p->b);
		else if (f.number == SAMPLE_VALUE)
			for (; proto_number(&f, &at, &number); n_values++) {
				if (n_values == p->value)
					sample.value = (int64_t)number;
				if (n_values == p->weight)
					sample.weight = (int64_t)number;
			}
		else if (f.number == SAMPLE_LABEL)
			take_label(p, &f, &sample);
	}
	return err ? err : count_sample(p, &sample);
}

/* Which of the fields, one after another; what is damaged ends it. */
static int each_field(struct parser *p, const struct str *bytes,
		      int (*take)(struct parser *p, const struct proto_field *field))
{
	struct proto proto = proto_of(bytes->s, bytes->n);
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&proto, &field))
		if ((field.number == PROFILE_SAMPLE) == (take == take_sample) &&
		    (take != take_sample || field.wire == PROTO_BYTES))
			err = take(p, &field);
	p->r->was_cut |= proto.bad;
	return err;
}

static int parse(struct parser *p, const struct source *source, const struct str *bytes)
{
	size_t packed = source_packed_bytes(source);
	int err = pprof_in_new(&p->tables, p->r, bytes,
			       ITEMS_MIN + (packed ? packed : bytes->n / ITEM_BYTES));

	if (!err)
		err = each_field(p, bytes, take_field);
	if (!err)
		err = choose_value(p);
	if (!err && p->run.started_unix_ns)
		err = profile_add_run(p->r, &p->run);
	return err ? err : each_field(p, bytes, take_sample);
}

static size_t bytes_max(const struct source *source)
{
	size_t packed = source_packed_bytes(source);

	if (!packed)
		return PIPE_BYTES_MAX;
	return packed < (PROFILE_BYTES_MAX - UNPACKED_BYTES_MIN) / UNPACKED_MAX
		       ? UNPACKED_BYTES_MIN + packed * UNPACKED_MAX
		       : PROFILE_BYTES_MAX;
}

static int read_bytes(struct source *source, struct str *bytes)
{
	char chunk[16384];
	size_t n;

	do {
		n = source_read(source, chunk, sizeof(chunk));
		str_add_bytes(bytes, chunk, n);
		if (bytes->n > bytes_max(source))
			return fail(-EFBIG,
				    "%s is too large for a profile, or unpacks to more "
				    "than one could",
				    source_name(source));
	} while (n);
	return str_error(bytes) ? fail(-ENOMEM, "no memory for %s", source_name(source))
				: 0;
}

static int pprof_read(struct source *source, struct profile *profile)
{
	struct parser p = { .r = profile, .b.r = profile };
	AUTO_STR bytes = { 0 };
	int err = read_bytes(source, &bytes);

	profile->one_view = true;
	if (!err)
		err = parse(&p, source, &bytes);
	pprof_in_free(p.tables);
	stack_builder_free(&p.b);
	vec_free(&p.types);
	return err;
}

const struct reader pprof_reader = {
	.name = "pprof profiles",
	.accepts = is_profile,
	.read = pprof_read,
};
