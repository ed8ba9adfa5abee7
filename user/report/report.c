// SPDX-License-Identifier: BSD-2-Clause
#include "report/report.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/log.h"
#include "core/filter_hint.h"
#include "core/labels.h"
#include "core/merge.h"
#include "base/signals.h"
#include "format/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int read_one(const char *path, struct reading **ret)
{
	const char *name = strcmp(path, "-") ? path : "stdin";
	int err = reader_read(path, ret);

	if (err)
		return err;
	if ((*ret)->was_cut)
		log_warn("%s was cut short or is damaged: what is before that is shown",
			 name);
	if ((*ret)->left_out)
		log_warn("%s: %" PRIu64 " lines, names or stacks are left out: not "
			 "understood, or more than weft keeps",
			 name, (*ret)->left_out);
	return 0;
}

static bool rates_differ(const struct reading *r)
{
	for (size_t i = 1; i < r->runs.n; i++)
		if (r->runs.items[i].hz != r->runs.items[0].hz)
			return true;
	return false;
}

static int read_many(const struct report_options *options, struct reading **ret)
{
	AUTO(reading) sum = NULL;
	int err = reading_new(&sum);

	for (unsigned int i = 0; !err && i < options->n_files; i++) {
		AUTO(reading) one = NULL;

		err = read_one(options->files[i], &one);
		if (!err)
			err = reading_merge(sum, one);
	}
	if (!err)
		err = reading_finish(sum);
	if (err)
		return err;
	if (rates_differ(sum))
		log_warn("recordings of different rates: a sample of one weighs more "
			 "than of another");
	*ret = GIVE(sum);
	return 0;
}

/* A profile may be empty, but never without a word why. */
static void tell_empty(const struct reading *reading, const struct str *hint,
		       bool was_empty)
{
	if (reading->timeline.total)
		return;
	if (was_empty && reading->was_cut)
		log_warn("the profile is empty: its file ends before the first sample");
	else if (was_empty)
		log_warn("the profile is empty: nothing ran on a CPU while it was "
			 "recorded, a filter left it out, or whoever wrote it failed");
	else if (hint->n)
		log_warn("the filters leave nothing: %s", hint->s);
	else
		log_warn("the filters leave nothing: no sample meets all of them");
}

static int check_focus(const struct reading *r, const char *pattern)
{
	char shown[128];
	const char *near;
	int err;

	for (size_t i = 0; pattern && i < r->frames.n; i++)
		if (glob_matches(pattern, reading_string(r, r->frames.items[i].name)))
			return 0;
	if (!pattern)
		return 0;
	near = reading_nearest_function(r, pattern);
	str_clean(shown, sizeof(shown), pattern, strlen(pattern));
	err = fail(-EINVAL, "no function is called '%s'", shown);
	return near ? fail_hint(err, "did you mean '%s'?", near)
		    : fail_hint(err, "weft report --top 0 lists all; * stands for "
				     "anything");
}

static int write_out(const struct report_options *options, const struct reading *reading,
		     uint64_t unfiltered)
{
	const struct writer_options how = { .view = options->view };
	struct text_options text = options->text;
	AUTO(outfile) file = NULL;
	int err = outfile_new(&file, options->output ? options->output : "-");

	text.view = options->view;
	text.unfiltered = unfiltered;
	if (err)
		return err;
	if (options->json)
		err = text_write_json(file, reading, &text);
	else if (options->output)
		err = options->writer->write(file, reading, &how);
	else
		err = text_write(file, reading, &text);
	return err ? err : outfile_finish(file);
}

int report_run(const struct report_options *options)
{
	AUTO(reading) reading = NULL;
	AUTO_STR hint = { 0 };
	uint64_t unfiltered;
	int err;

	signals_let_go();
	err = options->n_files == 1 ? read_one(options->files[0], &reading)
				    : read_many(options, &reading);
	if (err)
		return err;
	unfiltered = reading->timeline.total;
	err = reading_filter(reading, &options->filter, options->view, &hint);
	if (options->text.no_kernel)
		reading_drop_kernel(reading);
	if (!err && options->no_labels)
		err = reading_drop_labels(reading);
	if (!err && options->no_inlines)
		err = reading_drop_inlined(reading);
	if (!err)
		tell_empty(reading, &hint, !unfiltered);
	if (!err)
		err = check_focus(reading, options->text.caller);
	if (!err)
		err = check_focus(reading, options->text.callee);
	return err ? err : write_out(options, reading, unfiltered);
}
