// SPDX-License-Identifier: BSD-2-Clause
#include "report/report.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/log.h"
#include "core/filter_hint.h"
#include "core/labels.h"
#include "core/merge.h"
#include "core/short_names.h"
#include "base/signals.h"
#include "format/reader.h"
#include "report/group_files.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int read_one(const char *path, struct profile **ret)
{
	const char *name = strcmp(path, "-") ? path : "stdin";
	int err = reader_read(path, ret);

	if (err)
		return err;
	if ((*ret)->was_cut)
		log_warn("%s was cut short or is damaged: weft shows what comes before",
			 name);
	if ((*ret)->left_out)
		log_warn("%s: weft dropped %" PRIu64 " lines, names or stacks: not "
			 "understood, or over weft's limit",
			 name, (*ret)->left_out);
	return 0;
}

static bool rates_differ(const struct profile *r)
{
	for (size_t i = 1; i < r->runs.n; i++)
		if (r->runs.items[i].hz != r->runs.items[0].hz)
			return true;
	return false;
}

static int read_many(const struct report_options *options, struct profile **ret)
{
	AUTO(profile) sum = NULL;
	int err = profile_new(&sum);

	for (unsigned int i = 0; !err && i < options->n_files; i++) {
		AUTO(profile) one = NULL;

		err = read_one(options->files[i], &one);
		if (!err)
			err = profile_merge(sum, one);
	}
	if (!err)
		err = profile_finish(sum);
	if (err)
		return err;
	if (rates_differ(sum))
		log_warn("the recordings have different rates: a sample of one weighs "
			 "more than a sample of another");
	*ret = GIVE(sum);
	return 0;
}

/* A profile may be empty, but never without a word why. */
static void tell_empty(const struct profile *profile, const struct str *hint,
		       bool was_empty)
{
	if (profile->timeline.total)
		return;
	if (was_empty && profile->was_cut)
		log_warn("the profile is empty: its file ends before the first sample");
	else if (was_empty)
		log_warn("the profile is empty: nothing ran on a CPU during the "
			 "recording, a filter dropped every sample, or the program that "
			 "wrote it failed");
	else if (hint->n)
		log_warn("no sample matches the filters: %s", hint->s);
	else
		log_warn("no sample matches all filters");
}

static int check_focus(const struct profile *r, const char *pattern)
{
	char shown[128];
	const char *near;
	int err;

	for (size_t i = 0; pattern && i < r->frames.n; i++)
		if (glob_matches(pattern, profile_string(r, r->frames.items[i].name)))
			return 0;
	if (!pattern)
		return 0;
	near = profile_nearest_function(r, pattern);
	str_clean(shown, sizeof(shown), pattern, strlen(pattern));
	err = fail(-EINVAL, "no function is called '%s'", shown);
	return near ? fail_hint(err, "did you mean '%s'?", near)
		    : fail_hint(err, "weft report --top 0 lists all; * matches "
				     "anything");
}

static int write_out(const struct report_options *options, struct profile *profile,
		     uint64_t unfiltered)
{
	const struct writer_options how = { .view = options->view,
					    .short_names = options->short_names };
	struct text_options text = options->text;
	AUTO(outfile) file = NULL;
	int err;

	if (options->group_files)
		return group_files_write(&(struct group_files){ options->output,
								options->text.group,
								options->writer, how },
					 profile);
	text.view = options->view;
	text.unfiltered = unfiltered;
	if (!options->json && !options->output && options->before_text)
		options->before_text(options->before_text_arg);
	err = outfile_new(&file, options->output ? options->output : "-");
	if (err)
		return err;
	if (options->json)
		err = text_write_json(file, profile, &text);
	else if (options->output)
		err = options->writer->write(file, profile, &how);
	else
		err = text_write(file, profile, &text);
	return err ? err : outfile_finish(file);
}

/* Which shows whole names as well. */
static bool writes_page(const struct report_options *options)
{
	return options->writer == &html_writer;
}

int report_run(const struct report_options *options)
{
	AUTO(profile) profile = NULL;
	AUTO_STR hint = { 0 };
	uint64_t unfiltered;
	int err;

	signals_let_go(NULL);
	err = options->n_files == 1 ? read_one(options->files[0], &profile)
				    : read_many(options, &profile);
	if (err)
		return err;
	unfiltered = profile->timeline.total;
	err = late_names_find(profile, &options->late_names);
	if (err)
		return err;
	err = profile_filter(profile, &options->filter, options->view, &hint);
	if (options->text.no_kernel)
		profile_drop_kernel(profile);
	if (!err && options->no_labels)
		err = profile_drop_labels(profile);
	if (!err && options->no_inlines)
		err = profile_drop_inlined(profile);
	if (!err && options->short_names && !writes_page(options))
		err = profile_shorten_names(profile);
	if (!err)
		tell_empty(profile, &hint, !unfiltered);
	if (!err)
		err = check_focus(profile, options->text.caller);
	if (!err)
		err = check_focus(profile, options->text.callee);
	return err ? err : write_out(options, profile, unfiltered);
}
