// SPDX-License-Identifier: BSD-2-Clause
#include "agent/shipping.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KEPT_FOREVER_NS UINT64_MAX
#define HURRY_MS	20

struct shipping {
	const struct agent_options *options;
	struct sender_config configs[AGENT_RECEIVERS_MAX];
	struct sender_keeper *keeper;
	struct exporter *exporters[AGENT_RECEIVERS_MAX];
	char paths[AGENT_RECEIVERS_MAX][PATH_MAX]; /* of their spools */
	struct spool *kept;			   /* NULL: nothing is */
	uint64_t made; /* profiles for receivers, each view one */
	uint64_t lost; /* of these, that could not be written to the spool */
	uint64_t kept_lost;
};

static int new_keeper(struct shipping *s)
{
	const struct agent_options *options = s->options;

	for (size_t i = 0; i < options->n_receivers; i++)
		s->configs[i] = (struct sender_config){
			.name = options->receivers[i].name,
			.receiver = options->receivers[i].kind,
			.target = options->receivers[i].target,
			.labels = options->labels,
			.n_labels = options->n_labels,
		};
	return options->n_receivers || options->listen.address
		       ? sender_keeper_new(&s->keeper, s->configs, options->n_receivers)
		       : 0;
}

static int new_exporter(struct shipping *s, size_t i)
{
	const struct agent_options *options = s->options;
	const char *name = options->receivers[i].name;
	const struct spool_config config = {
		.path = s->paths[i],
		.ending = pprof_writer.endings[0],
		.bytes_max = options->spool_bytes,
		.age_max_ns = options->spool_age_ns,
	};
	AUTO(sender) sender = NULL;
	AUTO(spool) spool = NULL;
	int err;

	if (snprintf(s->paths[i], sizeof(s->paths[i]), "%s/%s", options->spool, name) >=
	    (int)sizeof(s->paths[i]))
		return fail(-ENAMETOOLONG, "%s: the path is too long", options->spool);
	err = spool_new(&spool, &config);
	if (!err)
		err = sender_new(&sender, s->keeper, i);
	return err ? err
		   : exporter_new(&s->exporters[i], name, GIVE(spool), GIVE(sender));
}

static int new_exporters(struct shipping *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->options->n_receivers; i++)
		err = new_exporter(s, i);
	return err;
}

static int new_kept(struct shipping *s)
{
	const struct spool_config config = {
		.path = s->options->keep,
		.ending = s->options->keep_writer->endings[0],
		.bytes_max = s->options->keep_bytes,
		.age_max_ns = KEPT_FOREVER_NS,
		.is_the_end = true,
	};

	return spool_new(&s->kept, &config);
}

int shipping_new(struct shipping **ret, const struct agent_options *options)
{
	AUTO(shipping) s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "no memory for the ways out");
	s->options = options;
	err = new_keeper(s);
	if (!err)
		err = new_exporters(s);
	if (!err && options->keep)
		err = new_kept(s);
	if (err)
		return err;
	*ret = GIVE(s);
	return 0;
}

void shipping_free(struct shipping *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->options->n_receivers; i++)
		exporter_free(s->exporters[i]);
	sender_keeper_free(s->keeper);
	spool_free(s->kept);
	free(s);
}

struct to_write {
	const struct profile *profile;
	const struct writer *writer;
	enum view view;
	const struct series *series;
};

static int write_profile(void *arg, struct outfile *out)
{
	const struct to_write *what = arg;
	const struct writer_options options = { .view = what->view,
						.series = what->series };

	return what->writer->write(out, what->profile, &options);
}

static void tell_lost(const char *where, uint64_t *count)
{
	log_warn("a profile is lost, it could not be written to %s: %s", where,
		 error_sentence());
	error_clear();
	++*count;
}

/* Written once, for the first; the others get the same file. */
static void add_view(struct shipping *s, const struct to_write *what, const char *word)
{
	struct spool *first = NULL;

	for (size_t i = 0; i < s->options->n_receivers; i++) {
		struct spool *spool = exporter_spool(s->exporters[i]);
		int err = first ? spool_add_of(spool, first, word)
				: spool_add(spool, word, write_profile, (void *)what);

		s->made++;
		if (err)
			tell_lost(s->paths[i], &s->lost);
		else if (!first)
			first = spool;
	}
}

void shipping_keep(struct shipping *s, const struct profile *profile)
{
	struct to_write what = { profile, s->options->keep_writer,
				 s->options->views == AGENT_THREAD ? VIEW_THREAD
								   : VIEW_ASYNC,
				 NULL };

	if (s->kept && spool_add(s->kept, "weft", write_profile, &what))
		tell_lost(s->options->keep, &s->kept_lost);
}

void shipping_add(struct shipping *s, const struct profile *profile,
		  const struct series *series)
{
	struct to_write async = { profile, &pprof_writer, VIEW_ASYNC, series };
	struct to_write thread = { profile, &pprof_writer, VIEW_THREAD, series };

	/* servers take a profile without a sample for a broken one */
	if (!profile->timeline.total)
		return;
	if (s->options->views != AGENT_THREAD)
		add_view(s, &async, "async");
	if (s->options->views != AGENT_ASYNC)
		add_view(s, &thread,
			 s->options->views == AGENT_BOTH ? "thread" EXPORTER_SECOND
							 : "thread");
}

void shipping_step(struct shipping *s)
{
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < s->options->n_receivers; i++)
		exporter_step(s->exporters[i], now);
}

size_t shipping_fds(const struct shipping *s, struct pollfd fds[AGENT_RECEIVERS_MAX])
{
	for (size_t i = 0; i < s->options->n_receivers; i++)
		fds[i] = (struct pollfd){ .fd = exporter_fd(s->exporters[i]),
					  .events = POLLIN };
	return s->options->n_receivers;
}

static bool all_done(const struct shipping *s)
{
	for (size_t i = 0; i < s->options->n_receivers; i++)
		if (!exporter_is_done(s->exporters[i]))
			return false;
	return true;
}

void shipping_end(struct shipping *s, uint64_t time_ns)
{
	uint64_t until = clock_now_ns() + time_ns;
	struct pollfd fds[AGENT_RECEIVERS_MAX];

	for (size_t i = 0; i < s->options->n_receivers; i++)
		exporter_hurry(s->exporters[i]);
	shipping_step(s);
	while (!all_done(s) && clock_now_ns() < until) {
		poll(fds, shipping_fds(s, fds), HURRY_MS);
		shipping_step(s);
	}
}

struct shipping_state shipping_state(const struct shipping *s, size_t i)
{
	struct spool *spool = exporter_spool(s->exporters[i]);
	const struct spool_item *oldest = spool_oldest(spool);

	return (struct shipping_state){
		.receiver = s->options->receivers[i].name,
		.spool = *spool_counts(spool),
		.exporter = exporter_counts(s->exporters[i]),
		.oldest_unix_ns = oldest ? oldest->unix_ns : 0,
	};
}

uint64_t shipping_lost(const struct shipping *s)
{
	return s->lost;
}

struct sender_keeper *shipping_keeper(struct shipping *s)
{
	return s->keeper;
}

bool shipping_hold(struct shipping *s, bool is_held)
{
	bool is_sending = false;

	for (size_t i = 0; i < s->options->n_receivers; i++) {
		exporter_hold(s->exporters[i], is_held);
		is_sending |= exporter_is_sending(s->exporters[i]);
	}
	return !is_sending;
}

static void add_exporter(struct str *out, const struct agent_receiver *receiver,
			 struct exporter *exporter)
{
	const struct spool_counts *spool = spool_counts(exporter_spool(exporter));
	const struct exporter_counts counts = exporter_counts(exporter);

	str_addf(out,
		 "  %-9s %" PRIu64 " delivered, %" PRIu64 " wait (%.1f MB), %" PRIu64
		 " refused, %" PRIu64 " dropped, of %" PRIu64 " made and %" PRIu64
		 " found\n",
		 receiver->name, counts.delivered, spool->items,
		 (double)spool->bytes / (1 << 20), counts.refused, spool->dropped,
		 spool->added, spool->found);
}

void shipping_summary(struct str *out, const struct shipping *s)
{
	for (size_t i = 0; i < s->options->n_receivers; i++)
		add_exporter(out, &s->options->receivers[i], s->exporters[i]);
	if (s->lost)
		str_addf(out,
			 "  lost      %" PRIu64 " of %" PRIu64
			 " profiles: they could not be written to %s\n",
			 s->lost, s->made, s->options->spool);
	if (!s->kept)
		return;
	str_addf(out, "  kept      %" PRIu64 " profiles in %s",
		 spool_counts(s->kept)->items, s->options->keep);
	if (s->kept_lost)
		str_addf(out, "; %" PRIu64 " could not be written", s->kept_lost);
	str_add_char(out, '\n');
}
