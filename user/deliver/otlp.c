// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenTelemetry's profiles over HTTP, as its Collector and what stands behind it take
 * them: an export of a resource with one profile for each series, made of the pprof file
 * of the spool (otlp_tables.h has the numbers). The signal is in development; this is
 * version 1.11 of the protocol, package v1development.
 *
 * A profile has one type of value: it counts samples, and its period says what each of
 * them weighs.
 */
#include "deliver/receiver.h"

#include "base/hash.h"
#include "base/proto.h"
#include "base/resource.h"
#include "deliver/otlp_fields.h"
#include "deliver/otlp_tables.h"
#include "format/pprof/pprof_fields.h"

#include <errno.h>
#include <string.h>

#define PROFILE_ID_BYTES 16

struct export
{
	const struct delivery *delivery;
	const struct delivered_series *series;
	struct otlp_tables *tables;
	struct str profile;
	struct str comments; /* an ArrayValue */
	bool has_type;
};

/* Semantic conventions' names of what pprof's labels and weft's are. */
static const char *key_of(const char *label, size_t n)
{
	static const char *const names[][2] = {
#define X(name, key, label) { label, key },
		RESOURCE_ATTRIBUTES(X)
#undef X
			{ "hostname", "host.name" },
		{ "comm", "thread.name" },
		{ "pid", "process.pid" },
		{ "container", "container.id" },
		{ "host", "host.name" },
		{ "container_id", "container.id" },
		{ "pod_uid", "k8s.pod.uid" },
		{ "async.hops", "weft.async.hops" },
		{ "async.kind", "weft.async.kind" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i][0]) == n && !memcmp(names[i][0], label, n))
			return names[i][1];
	return NULL;
}

static void add_resource(struct str *out, const struct delivered_series *series)
{
	AUTO_STR resource = { 0 };

	for (size_t i = 0; i < series->n_labels; i++) {
		const struct label *label = &series->labels[i];
		const char *key = key_of(label->name, strlen(label->name));
		AUTO_STR pair = { 0 };
		AUTO_STR value = { 0 };

		otlp_any_text(&value, label->value, strlen(label->value));
		proto_add_string(&pair, KEY_VALUE_KEY, key ? key : label->name);
		proto_add_item(&pair, KEY_VALUE_VALUE, value.s, value.n);
		proto_add_item(&resource, RESOURCE_ATTRIBUTES, pair.s, pair.n);
		resource.failed |= pair.failed | value.failed;
	}
	proto_add_item(out, RESOURCE_RESOURCE, resource.s, resource.n);
	out->failed |= resource.failed;
}

static void add_scope(struct str *out)
{
	AUTO_STR scope = { 0 };

	proto_add_string(&scope, SCOPE_NAME, "weft");
	proto_add_string(&scope, SCOPE_VERSION, WEFT_VERSION);
	proto_add_item(out, SCOPE_SCOPE, scope.s, scope.n);
	out->failed |= scope.failed;
}

/* more: behind the type's name */
static void add_type(struct export *m, unsigned int into, const struct proto_field *field,
		     const char *more)
{
	struct proto proto = proto_of(field->bytes, field->n);
	struct proto_field number, type = { 0 }, unit = { 0 };
	AUTO_STR name = { 0 };
	AUTO_STR text = { 0 };

	while (proto_next(&proto, &number))
		if (number.number == VALUE_TYPE_TYPE)
			type = otlp_text(m->tables, number.value);
		else if (number.number == VALUE_TYPE_UNIT)
			unit = otlp_text(m->tables, number.value);
	str_add_bytes(&name, type.bytes, type.n);
	str_add(&name, more);
	proto_add_uint(&text, OTLP_TYPE, otlp_string(m->tables, name.s, name.n));
	proto_add_uint(&text, OTLP_UNIT, otlp_string(m->tables, unit.bytes, unit.n));
	proto_add_item(&m->profile, into, text.s, text.n);
	m->profile.failed |= name.failed | text.failed;
}

/* Its number; 0: it says nothing. */
static uint64_t label_attribute(struct export *m, const struct proto_field *label)
{
	struct proto proto = proto_of(label->bytes, label->n);
	struct proto_field field, key = { 0 }, text;
	AUTO_STR value = { 0 };
	AUTO_STR name = { 0 };
	const char *known;

	while (proto_next(&proto, &field))
		if (field.number == LABEL_KEY) {
			key = otlp_text(m->tables, field.value);
		} else if (field.number == LABEL_STR) {
			text = otlp_text(m->tables, field.value);
			otlp_any_text(&value, text.bytes, text.n);
		} else if (field.number == LABEL_NUM) {
			otlp_any_number(&value, field.value);
		}
	if (!key.n || !value.n)
		return 0;
	known = key_of((const char *)key.bytes, key.n);
	if (known)
		return otlp_attribute(m->tables, known, &value);
	str_add_bytes(&name, key.bytes, key.n);
	m->profile.failed |= name.failed;
	return name.s ? otlp_attribute(m->tables, name.s, &value) : 0;
}

/* The text of a label, if it has that key. */
static bool label_text(struct export *m, const struct proto_field *label, const char *key,
		       struct proto_field *ret)
{
	struct proto proto = proto_of(label->bytes, label->n);
	struct proto_field field, is = { 0 }, text = { 0 };

	while (proto_next(&proto, &field))
		if (field.number == LABEL_KEY)
			is = otlp_text(m->tables, field.value);
		else if (field.number == LABEL_STR)
			text = otlp_text(m->tables, field.value);
	if (is.n != strlen(key) || memcmp(is.bytes, key, is.n) != 0)
		return false;
	*ret = text;
	return true;
}

/* Lower hex, as weft writes it. */
static bool read_id(const struct proto_field *text, unsigned char *ret, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (text->n != 2 * n)
		return false;
	for (size_t i = 0; i < 2 * n; i++) {
		const char *digit = memchr(digits, text->bytes[i], 16);

		if (!digit)
			return false;
		ret[i / 2] = (unsigned char)(ret[i / 2] << 4 | (digit - digits));
	}
	return true;
}

/* For which trace and span it worked: the number of the link; 0: it does not say. */
static uint64_t find_link(struct export *m, const struct proto_field *sample)
{
	struct proto proto = proto_of(sample->bytes, sample->n);
	struct proto_field field, trace = { 0 }, span = { 0 };
	struct trace_ids ids = { 0 };

	while (proto_next(&proto, &field))
		if (field.number == SAMPLE_LABEL &&
		    !label_text(m, &field, PPROF_TRACE_LABEL, &trace))
			label_text(m, &field, PPROF_SPAN_LABEL, &span);
	if (!read_id(&trace, ids.trace, sizeof(ids.trace)) ||
	    !read_id(&span, ids.span, sizeof(ids.span)))
		return 0;
	return otlp_link(m->tables, &ids);
}

static bool is_of_link(struct export *m, const struct proto_field *label)
{
	struct proto_field text;

	return label_text(m, label, PPROF_TRACE_LABEL, &text) ||
	       label_text(m, label, PPROF_SPAN_LABEL, &text);
}

static void add_sample(struct export *m, const struct proto_field *from)
{
	struct proto proto = proto_of(from->bytes, from->n);
	struct proto_field field;
	AUTO_STR attributes = { 0 };
	AUTO_STR values = { 0 };
	AUTO_STR sample = { 0 };
	uint64_t number, link = find_link(m, from);

	while (proto_next(&proto, &field)) {
		size_t at = 0;

		if (field.number == SAMPLE_VALUE && !values.n &&
		    proto_number(&field, &at, &number))
			varint_add(&values, number);
		if (field.number != SAMPLE_LABEL ||
		    pprof_pick_drops(&m->series->pick, &field) ||
		    (link && is_of_link(m, &field)))
			continue;
		number = label_attribute(m, &field);
		if (number)
			varint_add(&attributes, number);
	}
	proto_add_uint(&sample, OTLP_STACK, otlp_stack(m->tables, from));
	proto_add_bytes(&sample, OTLP_SAMPLE_ATTRIBUTES, attributes.s, attributes.n);
	proto_add_uint(&sample, OTLP_LINK, link);
	proto_add_bytes(&sample, OTLP_VALUES, values.s, values.n);
	proto_add_item(&m->profile, OTLP_SAMPLES, sample.s, sample.n);
	m->profile.failed |= attributes.failed | values.failed | sample.failed;
}

static void add_comment(struct export *m, uint64_t string)
{
	struct proto_field text = otlp_text(m->tables, string);
	AUTO_STR value = { 0 };

	otlp_any_text(&value, text.bytes, text.n);
	proto_add_item(&m->comments, ARRAY_VALUES, value.s, value.n);
	m->comments.failed |= value.failed;
}

static void add_field(struct export *m, const struct proto_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		if (!m->has_type)
			add_type(m, OTLP_SAMPLE_TYPE, field,
				 m->delivery->is_second ? "_thread" : "");
		m->has_type = true;
		break;
	case PROFILE_SAMPLE:
		add_sample(m, field);
		break;
	case PROFILE_PERIOD_TYPE:
		add_type(m, OTLP_PERIOD_TYPE, field, "");
		break;
	case PROFILE_PERIOD:
		proto_add_uint(&m->profile, OTLP_PERIOD, field->value);
		break;
	case PROFILE_TIME_NANOS:
		proto_add_fixed64(&m->profile, OTLP_TIME_UNIX_NANO, field->value);
		break;
	case PROFILE_DURATION_NANOS:
		proto_add_uint(&m->profile, OTLP_DURATION_NANO, field->value);
		break;
	case PROFILE_COMMENT:
		for (size_t at = 0, ok = 1; ok;) {
			uint64_t number;

			ok = proto_number(field, &at, &number);
			if (ok)
				add_comment(m, number);
		}
		break;
	}
}

/* The same whenever it is tried again, and of no other one. */
static void add_id(struct export *m)
{
	struct hasher hasher;
	struct hash hash;

	hash_begin(&hasher);
	hash_add(&hasher, m->delivery->plain->s, m->delivery->plain->n);
	hash_add(&hasher, &m->series->pick.series, sizeof(m->series->pick.series));
	hash_end(&hasher, &hash);
	proto_add_item(&m->profile, OTLP_PROFILE_ID, hash.bytes, PROFILE_ID_BYTES);
}

/* Version, rate, and the ledger. */
static void add_comments(struct export *m)
{
	AUTO_STR value = { 0 };
	AUTO_STR number = { 0 };

	proto_add_item(&value, ANY_ARRAY, m->comments.s, m->comments.n);
	varint_add(&number, otlp_attribute(m->tables, "pprof.profile.comment", &value));
	proto_add_bytes(&m->profile, OTLP_PROFILE_ATTRIBUTES, number.s, number.n);
	m->profile.failed |= m->comments.failed | number.failed;
}

static void add_fields(struct export *m)
{
	const struct str *plain = m->delivery->plain;
	struct proto proto = proto_of(plain->s, plain->n);
	struct proto_field field;
	uint64_t sample = 0;

	while (proto_next(&proto, &field))
		if (field.number != PROFILE_SAMPLE ||
		    pprof_pick_has(&m->series->pick, sample++))
			add_field(m, &field);
}

static void add_series(struct export *m, const struct delivered_series *series,
		       struct str *out)
{
	AUTO_STR resource = { 0 };
	AUTO_STR scope = { 0 };

	m->series = series;
	m->has_type = false;
	str_clear(&m->profile);
	str_clear(&m->comments);
	add_fields(m);
	add_id(m);
	add_comments(m);
	add_resource(&resource, series);
	add_scope(&scope);
	proto_add_item(&scope, SCOPE_PROFILES, m->profile.s, m->profile.n);
	proto_add_item(&resource, RESOURCE_SCOPE_PROFILES, scope.s, scope.n);
	proto_add_item(out, EXPORT_RESOURCE_PROFILES, resource.s, resource.n);
	out->failed |= m->profile.failed | resource.failed | scope.failed;
}

static int make_all(struct export *m, struct str *out)
{
	AUTO_STR dictionary = { 0 };
	int err;

	for (size_t i = 0; i < m->delivery->n_series; i++)
		add_series(m, &m->delivery->series[i], out);
	err = otlp_tables_write(m->tables, &dictionary);
	proto_add_item(out, EXPORT_DICTIONARY, dictionary.s, dictionary.n);
	out->failed |= dictionary.failed;
	return err ? err : str_error(out);
}

static int make(struct str *out, const struct delivery *delivery)
{
	struct export m = { .delivery = delivery };
	int err = otlp_tables_new(&m.tables, delivery->plain->s, delivery->plain->n);

	if (!err)
		err = make_all(&m, out);
	otlp_tables_free(m.tables);
	str_free(&m.profile);
	str_free(&m.comments);
	return err;
}

/* ExportProfilesServiceResponse: empty, or how many profiles it did not want. */
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1 };

static enum receiver_says read_answer(const char *answer, size_t n)
{
	struct proto proto = proto_of(answer, n), partial;
	struct proto_field field, inner;

	while (proto_next(&proto, &field)) {
		if (field.number != RESPONSE_PARTIAL_SUCCESS || field.wire != PROTO_BYTES)
			return RECEIVER_IS_ANOTHER;
		partial = proto_of(field.bytes, field.n);
		while (proto_next(&partial, &inner))
			if (inner.number == PARTIAL_REJECTED && inner.value)
				return RECEIVER_REFUSES;
	}
	return proto.bad ? RECEIVER_IS_ANOTHER : RECEIVER_TAKES;
}

const struct receiver otlp_receiver = {
	.name = "otlp",
	.path = "/v1development/profiles",
	.content_type = "application/x-protobuf",
	.is_packed = true,
	.is_whole = true,
	.make = make,
	.read_answer = read_answer,
};
