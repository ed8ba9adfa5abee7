// SPDX-License-Identifier: BSD-2-Clause
/*
 * The form that go tool pprof and many servers read: profile.proto, in gzip. One
 * view of the stacks. A boundary is a function in a mapping called `async`; the
 * sample says how many it has in labels. Ids are dense from 1 and string 0 is
 * empty, which some readers ask for.
 */
#include "format/writer.h"

#include "base/error.h"
#include "base/proto.h"
#include "format/pprof/pprof_fields.h"
#include "format/gzip.h"
#include "format/pprof/pprof_write_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct maker {
	const struct profile *r;
	const struct series *series; /* or NULL */
	enum view view;
	struct gzip *gzip;
	struct str text; /* of the profile */
	struct pprof_tables *tables;
	struct pairs owners;		   /* a = process, b = comm */
	struct pairs traces;		   /* a = trace, b = span: strings */
	struct pairs contexts;		   /* a = trace, b = attributes */
	struct pairs labels;		   /* a = owner, b = context */
	struct pairs stacks;		   /* a = node, b = labels */
	VEC(struct timeline_weighed) sums; /* by stack */
	bool in_samples;		   /* counts are samples of a known period, too */
};

static void add_value_type(struct maker *m, unsigned int field, const char *type,
			   const char *unit)
{
	AUTO_STR text = { 0 };

	proto_add_uint(&text, VALUE_TYPE_TYPE, pprof_string(m->tables, type));
	proto_add_uint(&text, VALUE_TYPE_UNIT, pprof_string(m->tables, unit));
	proto_add_item(&m->text, field, text.s, text.n);
}

/* A type may not hold a dash: receivers take it for their separator. */
static void add_types(struct maker *m)
{
	const char *type = profile_string(m->r, m->r->value_type);
	const char *unit = profile_string(m->r, m->r->value_unit);
	AUTO_STR clean = { 0 };

	for (; *type; type++)
		str_add_char(&clean, *type == '-' ? '_' : *type);
	m->text.failed |= clean.failed;
	add_value_type(m, PROFILE_SAMPLE_TYPE, clean.s ? clean.s : "", unit);
	if (m->in_samples) {
		add_value_type(m, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
		add_value_type(m, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		proto_add_uint(&m->text, PROFILE_PERIOD, m->r->period_ns);
		proto_add_uint(&m->text, PROFILE_DEFAULT_SAMPLE_TYPE,
			       pprof_string(m->tables, "cpu"));
	}
}

static void add_comment(struct maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void add_comment(struct maker *m, const char *fmt, ...)
{
	AUTO_FREE char *comment = NULL;
	va_list ap;

	va_start(ap, fmt);
	m->text.failed |= vasprintf(&comment, fmt, ap) < 0;
	va_end(ap);
	if (!m->text.failed)
		proto_add_uint(&m->text, PROFILE_COMMENT,
			       pprof_string(m->tables, comment));
}

static void add_series_names(struct maker *m)
{
	AUTO_STR names = { 0 };

	str_add(&names, PPROF_SERIES_COMMENT);
	for (uint32_t i = 0; i < intern_count(m->series->names); i++)
		str_addf(&names, " %s", intern_string(m->series->names, i));
	m->text.failed |= names.failed;
	add_comment(m, "%s", names.s ? names.s : "");
}

/* Version, rate, and all that the ledger holds. */
static void add_comments(struct maker *m)
{
	const struct profile *r = m->r;

	add_comment(m, "weft %s, the %s view", WEFT_VERSION,
		    m->view == VIEW_ASYNC ? "async" : "thread");
	for (size_t i = 0; i < r->runs.n; i++) {
		const struct profile_run *run = &r->runs.items[i];

		add_comment(m, "%u Hz (%s), host %s, Linux %s, %s", run->hz,
			    profile_string(r, run->event), profile_string(r, run->host),
			    profile_string(r, run->kernel), profile_string(r, run->arch));
	}
	for (size_t i = 0; i < r->ledger.n; i++)
		if (r->ledger.items[i].value)
			add_comment(m, "%s %" PRIu64,
				    profile_string(r, r->ledger.items[i].key),
				    r->ledger.items[i].value);
	if (r->was_cut)
		add_comment(m, "the recording was cut short");
	if (m->series)
		add_series_names(m);
}

static void add_times(struct maker *m)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < m->r->runs.n; i++) {
		const struct profile_run *run = &m->r->runs.items[i];
		uint64_t end = run->started_unix_ns + run->duration_ns;

		first = run->started_unix_ns < first ? run->started_unix_ns : first;
		last = end > last ? end : last;
	}
	if (first == UINT64_MAX)
		return;
	proto_add_uint(&m->text, PROFILE_TIME_NANOS, first);
	proto_add_uint(&m->text, PROFILE_DURATION_NANOS, last - first);
}

static void add_label(struct maker *m, struct str *sample, const char *key,
		      const char *text, uint64_t number)
{
	AUTO_STR label = { 0 };

	proto_add_uint(&label, LABEL_KEY, pprof_string(m->tables, key));
	if (text)
		proto_add_uint(&label, LABEL_STR, pprof_string(m->tables, text));
	else
		proto_add_uint(&label, LABEL_NUM, number);
	proto_add_item(sample, SAMPLE_LABEL, label.s, label.n);
}

static void add_series(struct maker *m, struct str *sample, uint32_t process)
{
	size_t n = 0;
	uint32_t set = m->series && process < m->series->by_process.n
			       ? m->series->by_process.items[process]
			       : 0;
	const struct series_pair *pairs =
		m->series && set != SERIES_NONE ? series_pairs(m->series, set, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		struct label label = series_label(m->series, pairs[i]);

		add_label(m, sample, label.name, label.value, 0);
	}
}

/* A series' label goes before a sample's of that name. */
static void add_text(struct maker *m, struct str *sample, const char *key,
		     const char *text)
{
	if (*text && !series_has(m->series, key))
		add_label(m, sample, key, text, 0);
}

static void add_owner(struct maker *m, struct str *sample, struct pair owner)
{
	const struct profile_process *process = &m->r->processes.items[owner.a];
	char container[256];

	add_text(m, sample, "comm", profile_string(m->r, owner.b));
	if (process->pid && !series_has(m->series, "pid"))
		add_label(m, sample, "pid", NULL, process->pid);
	profile_container(container, sizeof(container),
			  profile_string(m->r, process->cgroup));
	add_text(m, sample, "container", container);
	if (m->r->runs.n > 1)
		add_text(m, sample, "host", profile_string(m->r, process->host));
	add_series(m, sample, owner.a);
}

static void add_trace(struct maker *m, struct str *sample, struct pair trace)
{
	add_text(m, sample, PPROF_TRACE_LABEL, profile_string(m->r, trace.a));
	add_text(m, sample, PPROF_SPAN_LABEL, profile_string(m->r, trace.b));
}

static void add_context(struct maker *m, struct str *sample, struct pair context)
{
	const struct profile_attribute *attribute;

	add_trace(m, sample, m->traces.items[context.a]);
	for (uint32_t id = context.b; id; id = attribute->next) {
		attribute = &m->r->attributes.items[id];
		add_text(m, sample, profile_string(m->r, attribute->key),
			 profile_string(m->r, attribute->value));
	}
}

static int add_sample(struct maker *m, struct pair stack, struct timeline_weighed sum)
{
	AUTO_STR sample = { 0 };
	AUTO_STR numbers = { 0 };
	struct pair labels = m->labels.items[stack.b];
	unsigned int hops;
	int err = pprof_locations(m->tables, stack.a, &numbers, &hops);

	proto_add_bytes(&sample, SAMPLE_LOCATION_ID, numbers.s, numbers.n);
	str_clear(&numbers);
	varint_add(&numbers, sum.count);
	if (m->in_samples)
		varint_add(&numbers, sum.weight_ns);
	proto_add_bytes(&sample, SAMPLE_VALUE, numbers.s, numbers.n);
	add_owner(m, &sample, m->owners.items[labels.a]);
	add_context(m, &sample, m->contexts.items[labels.b]);
	if (hops) {
		add_label(m, &sample, "async.kind", "chain", 0);
		add_label(m, &sample, "async.hops", NULL, hops);
	}
	if (!err)
		err = str_error(&sample);
	proto_add_item(&m->text, PROFILE_SAMPLE, sample.s, sample.n);
	return err ? err : gzip_pass(m->gzip, &m->text);
}

static int sum_up(struct maker *m)
{
	const struct timeline *timeline = &m->r->timeline;
	int err = 0;

	for (uint32_t i = 0; !err && i < timeline->sample_keys.n; i++) {
		struct pair sample_key = timeline->sample_keys.items[i];
		const struct profile_thread *thread = &m->r->threads.items[sample_key.b];
		const struct profile_stack *from = &m->r->stacks.items[sample_key.a];
		struct pair owner = { thread->process, thread->name };
		struct pair trace = { from->trace, from->span }, labels;
		struct pair context = { 0, from->attributes };
		struct pair stack = { from->node[m->view], 0 };
		uint32_t id;

		if (!timeline->counts.items[i])
			continue;
		err = pairs_id(&m->owners, owner, SAMPLE_KEYS_MAX, &labels.a);
		if (!err)
			err = pairs_id(&m->traces, trace, SAMPLE_KEYS_MAX, &context.a);
		if (!err)
			err = pairs_id(&m->contexts, context, SAMPLE_KEYS_MAX, &labels.b);
		if (!err)
			err = pairs_id(&m->labels, labels, SAMPLE_KEYS_MAX, &stack.b);
		if (!err)
			err = pairs_id(&m->stacks, stack, SAMPLE_KEYS_MAX, &id);
		if (!err && id == m->sums.n)
			err = vec_push(&m->sums, (struct timeline_weighed){ 0 });
		if (err)
			break;
		m->sums.items[id].count += timeline->counts.items[i];
		m->sums.items[id].weight_ns += profile_weight_ns(m->r, i);
	}
	return err;
}

static int make(struct maker *m)
{
	int err = sum_up(m);

	if (!err)
		err = pprof_tables_new(&m->tables, m->r);
	if (err)
		return err;
	add_types(m);
	add_comments(m);
	add_times(m);
	for (size_t i = 0; !err && i < m->stacks.n; i++)
		err = add_sample(m, m->stacks.items[i], m->sums.items[i]);
	if (!err)
		err = pprof_tables_write(m->tables, &m->text, m->gzip);
	return err ? err : gzip_finish(m->gzip, &m->text);
}

static int pprof_write(struct outfile *out, const struct profile *profile,
		       const struct writer_options *options)
{
	struct maker m = { .r = profile,
			   .series = options->series,
			   .view = options->view };
	int err = gzip_new(&m.gzip, out);

	m.in_samples = profile->period_ns &&
		       !strcmp(profile_string(profile, profile->value_unit), "count");
	if (!err)
		err = make(&m);
	gzip_free(m.gzip);
	pprof_tables_free(m.tables);
	str_free(&m.text);
	pairs_free(&m.owners);
	pairs_free(&m.traces);
	pairs_free(&m.contexts);
	pairs_free(&m.labels);
	pairs_free(&m.stacks);
	vec_free(&m.sums);
	return err;
}

const struct writer pprof_writer = {
	.name = "pprof",
	.endings = { ".pb.gz", ".pprof" },
	.text = "The format of pprof.\n"
		"Holds one view.\n"
		"An async boundary is a function in a mapping called async, and\n"
		"so is who resumed a fiber; the sample has the label async.hops,\n"
		"which counts the former.\n"
		"Thread names, processes and containers are labels; losses are\n"
		"comments.\n"
		"Holds no time within the recording.",
	.next = "go tool pprof -http=localhost:",
	.write = pprof_write,
};
