// SPDX-License-Identifier: BSD-2-Clause
#include "deliver/pprof_part.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/proto.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <stdlib.h>

/* By number: 0 = not needed, else its new number. */
struct renumber {
	uint64_t *to;
	uint64_t n;
};

struct cutter {
	struct proto whole;
	uint64_t samples, first, end;  /* those from first to before end are wanted */
	const struct pprof_pick *pick; /* of these; NULL: all */
	struct renumber strings, locations, functions;
	bool bad;
};

static struct proto inside(const struct proto_field *field)
{
	return proto_of(field->bytes, field->n);
}

bool pprof_pick_has(const struct pprof_pick *pick, uint64_t sample)
{
	return sample < pick->n_samples && pick->series_of[sample] == pick->series;
}

bool pprof_pick_drops(const struct pprof_pick *pick, const struct proto_field *label)
{
	struct proto proto = inside(label);
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.number == LABEL_KEY && field.value < pick->n_strings &&
		    pick->is_key[field.value])
			return true;
	return false;
}

static bool is_wanted(const struct cutter *c, uint64_t sample)
{
	return sample >= c->first && sample < c->end &&
	       (!c->pick || pprof_pick_has(c->pick, sample));
}

static bool is_left_out(const struct cutter *c, const struct proto_field *field)
{
	return c->pick && field->number == SAMPLE_LABEL &&
	       pprof_pick_drops(c->pick, field);
}

static void need(struct cutter *c, struct renumber *table, uint64_t number)
{
	if (number < table->n)
		table->to[number] = 1;
	else
		c->bad = true;
}

static uint64_t renumbered(const struct renumber *table, uint64_t number)
{
	return number < table->n ? table->to[number] : 0;
}

/* What is needed gets numbers from 1 on. */
static void give_numbers(struct renumber *table)
{
	uint64_t next = 0;

	for (uint64_t i = 1; i < table->n; i++)
		if (table->to[i])
			table->to[i] = ++next;
}

static int make_table(struct renumber *table, uint64_t n)
{
	table->n = n;
	table->to = calloc(n + 1, sizeof(*table->to));
	return table->to ? 0 : fail(-ENOMEM, "no memory for a part of a profile");
}

static int count(struct cutter *c)
{
	struct proto proto = c->whole;
	uint64_t strings = 0, locations = 1, functions = 1;
	struct proto_field field;
	int err;

	while (proto_next(&proto, &field)) {
		c->samples += field.number == PROFILE_SAMPLE;
		strings += field.number == PROFILE_STRING_TABLE;
		locations += field.number == PROFILE_LOCATION;
		functions += field.number == PROFILE_FUNCTION;
	}
	c->bad |= proto.bad;
	err = make_table(&c->strings, strings);
	if (!err)
		err = make_table(&c->locations, locations);
	return err ? err : make_table(&c->functions, functions);
}

/* The strings that some fields of a message name. */
static void need_strings(struct cutter *c, const struct proto_field *message,
			 unsigned int fields)
{
	struct proto proto = inside(message);
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.wire == PROTO_VARINT && field.number < 32 &&
		    fields >> field.number & 1)
			need(c, &c->strings, field.value);
}

static void need_numbers(struct cutter *c, struct renumber *table,
			 const struct proto_field *field)
{
	uint64_t number;

	for (size_t at = 0; proto_number(field, &at, &number);)
		need(c, table, number);
}

static void need_of_sample(struct cutter *c, const struct proto_field *sample)
{
	struct proto proto = inside(sample);
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.number == SAMPLE_LOCATION_ID)
			need_numbers(c, &c->locations, &field);
		else if (field.number == SAMPLE_LABEL && !is_left_out(c, &field))
			need_strings(c, &field, 1U << LABEL_KEY | 1U << LABEL_STR);
}

static void need_of_head(struct cutter *c, const struct proto_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
	case PROFILE_PERIOD_TYPE:
		need_strings(c, field, 1U << VALUE_TYPE_TYPE | 1U << VALUE_TYPE_UNIT);
		break;
	case PROFILE_MAPPING:
		need_strings(c, field, 1U << MAPPING_FILENAME | 1U << MAPPING_BUILD_ID);
		break;
	case PROFILE_COMMENT:
	case PROFILE_DROP_FRAMES:
	case PROFILE_KEEP_FRAMES:
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		need_numbers(c, &c->strings, field);
		break;
	}
}

static void need_of_samples(struct cutter *c)
{
	struct proto proto = c->whole;
	struct proto_field field;
	uint64_t i = 0;

	while (proto_next(&proto, &field)) {
		if (field.number != PROFILE_SAMPLE) {
			need_of_head(c, &field);
			continue;
		}
		if (is_wanted(c, i))
			need_of_sample(c, &field);
		i++;
	}
}

static uint64_t number_in(const struct proto_field *message, unsigned int number)
{
	struct proto proto = inside(message);
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.number == number && field.wire == PROTO_VARINT)
			return field.value;
	return 0;
}

static void need_of_location(struct cutter *c, const struct proto_field *location)
{
	struct proto proto = inside(location);
	struct proto_field field;

	if (!renumbered(&c->locations, number_in(location, LOCATION_ID)))
		return;
	while (proto_next(&proto, &field))
		if (field.number == LOCATION_LINE)
			need(c, &c->functions, number_in(&field, LINE_FUNCTION_ID));
}

static void need_of_tables(struct cutter *c)
{
	struct proto proto = c->whole;
	struct proto_field field;

	while (proto_next(&proto, &field))
		if (field.number == PROFILE_LOCATION)
			need_of_location(c, &field);
	proto = c->whole;
	while (proto_next(&proto, &field))
		if (field.number == PROFILE_FUNCTION &&
		    renumbered(&c->functions, number_in(&field, FUNCTION_ID)))
			need_strings(c, &field,
				     1U << FUNCTION_NAME | 1U << FUNCTION_SYSTEM_NAME |
					     1U << FUNCTION_FILENAME);
	give_numbers(&c->locations);
	give_numbers(&c->functions);
}

static void copy_field(struct cutter *c, struct str *out, const struct proto_field *field)
{
	if (field->wire == PROTO_VARINT)
		proto_add_uint(out, field->number, field->value);
	else if (field->wire == PROTO_BYTES)
		proto_add_item(out, field->number, field->bytes, field->n);
	else
		c->bad = true; /* pprof has no others */
}

static void add_message(struct str *out, unsigned int field, struct str *text)
{
	proto_add_item(out, field, text->s, text->n);
	out->failed |= text->failed;
}

/* A message of which one field is a number of a table. */
static void copy_renumbered(struct cutter *c, struct str *out,
			    const struct proto_field *message,
			    const struct renumber *table, unsigned int number)
{
	struct proto proto = inside(message);
	struct proto_field field;
	AUTO_STR text = { 0 };

	while (proto_next(&proto, &field))
		if (field.number == number)
			proto_add_uint(&text, number, renumbered(table, field.value));
		else
			copy_field(c, &text, &field);
	add_message(out, message->number, &text);
}

static void copy_sample(struct cutter *c, struct str *out,
			const struct proto_field *sample)
{
	struct proto proto = inside(sample);
	struct proto_field field;
	AUTO_STR numbers = { 0 };
	AUTO_STR text = { 0 };
	uint64_t number;

	while (proto_next(&proto, &field))
		if (field.number == SAMPLE_LOCATION_ID)
			for (size_t at = 0; proto_number(&field, &at, &number);)
				varint_add(&numbers, renumbered(&c->locations, number));
		else if (!is_left_out(c, &field))
			copy_field(c, &text, &field);
	proto_add_bytes(&text, SAMPLE_LOCATION_ID, numbers.s, numbers.n);
	text.failed |= numbers.failed;
	add_message(out, PROFILE_SAMPLE, &text);
}

static void copy_location(struct cutter *c, struct str *out,
			  const struct proto_field *location)
{
	struct proto proto = inside(location);
	struct proto_field field;
	AUTO_STR text = { 0 };

	while (proto_next(&proto, &field))
		if (field.number == LOCATION_ID)
			proto_add_uint(&text, LOCATION_ID,
				       renumbered(&c->locations, field.value));
		else if (field.number == LOCATION_LINE)
			copy_renumbered(c, &text, &field, &c->functions,
					LINE_FUNCTION_ID);
		else
			copy_field(c, &text, &field);
	add_message(out, PROFILE_LOCATION, &text);
}

struct position {
	uint64_t sample, string;
};

static void copy(struct cutter *c, struct str *out, const struct proto_field *field,
		 struct position *at)
{
	switch (field->number) {
	case PROFILE_SAMPLE:
		if (is_wanted(c, at->sample))
			copy_sample(c, out, field);
		at->sample++;
		break;
	case PROFILE_LOCATION:
		if (renumbered(&c->locations, number_in(field, LOCATION_ID)))
			copy_location(c, out, field);
		break;
	case PROFILE_FUNCTION:
		if (renumbered(&c->functions, number_in(field, FUNCTION_ID)))
			copy_renumbered(c, out, field, &c->functions, FUNCTION_ID);
		break;
	case PROFILE_STRING_TABLE:
		proto_add_item(out, field->number, field->bytes,
			       c->strings.to[at->string] ? field->n : 0);
		at->string++;
		break;
	default:
		copy_field(c, out, field);
	}
}

static int cut(struct cutter *c, struct str *out)
{
	struct proto proto = c->whole;
	struct position at = { 0 };
	struct proto_field field;

	need_of_samples(c);
	need_of_tables(c);
	while (!c->bad && proto_next(&proto, &field))
		copy(c, out, &field, &at);
	return c->bad ? fail(-EBADMSG, "it is no profile of weft's") : str_error(out);
}

static void free_tables(struct cutter *c)
{
	free(c->strings.to);
	free(c->locations.to);
	free(c->functions.to);
}

int pprof_part(struct str *out, const struct str *whole, struct pprof_part which,
	       uint64_t *ret_samples)
{
	struct cutter c = { .whole = proto_of(whole->s, whole->n) };
	int err = count(&c);

	c.first = c.samples * which.part / which.parts;
	c.end = c.samples * (which.part + 1) / which.parts;
	if (!err)
		err = cut(&c, out);
	free_tables(&c);
	if (err)
		return err;
	*ret_samples = c.end - c.first;
	return 0;
}

int pprof_pick(struct str *out, const struct str *whole, const struct pprof_pick *pick)
{
	struct cutter c = { .whole = proto_of(whole->s, whole->n), .pick = pick };
	int err = count(&c);

	c.end = c.samples;
	if (!err)
		err = cut(&c, out);
	free_tables(&c);
	return err;
}
