// SPDX-License-Identifier: BSD-2-Clause
#include "record/output.h"

#include "base/outfile.h"

#include <string.h>
#include <sys/stat.h>

int output_profile(const struct output_file *file, const struct profile *profile,
		   enum view view)
{
	const struct writer_options options = { .view = view, .short_names = true };
	AUTO(outfile) out = NULL;
	int err = outfile_new(&out, file->path);

	if (!err)
		err = file->writer->write(out, profile, &options);
	return err ? err : outfile_finish(out);
}

static void add_size(struct str *out, long long bytes)
{
	if (bytes < 10 << 10)
		str_addf(out, ", %lld bytes", bytes);
	else
		str_addf(out, ", %.1f KB", (double)bytes / 1024);
}

/* The one command that is worth typing now. */
static void add_next(struct str *out, const struct output_file *file)
{
	const struct writer *writer = file->writer;

	if (!writer->next)
		return;
	str_addf(out, "  next      %s", writer->next);
	if (!writer->takes_usual || strcmp(file->path, USUAL_OUTPUT) != 0)
		str_addf(out, " %s", file->path);
	str_add_char(out, '\n');
}

static void add_file(struct str *out, const struct output_file *file, bool is_empty)
{
	struct stat st;
	bool is_kept;

	if (!strcmp(file->path, "-"))
		return;
	is_kept = !stat(file->path, &st) && S_ISREG(st.st_mode);
	str_addf(out, "  written   %s", file->path);
	if (is_kept)
		add_size(out, st.st_size);
	str_add_char(out, '\n');
	if (is_kept && !is_empty)
		add_next(out, file);
}

static void tell(const struct output *output, const struct stats *stats)
{
	bool is_empty = !stats->aggregator->samples.total;
	AUTO_STR text = { 0 };

	stats_summary(&text, stats);
	if (is_empty)
		str_add(&text,
			"  nothing ran on a CPU while weft was looking (it sleeps, or "
			"is stopped), or a\n  filter left it out: the profile is "
			"empty\n");
	for (unsigned int i = 0; i < output->n; i++)
		add_file(&text, &output->files[i], is_empty);
	if (!str_error(&text))
		output->summary(text.s);
}

int output_stats(const struct output *output, struct stats *stats)
{
	AUTO_STR json = { 0 };
	int err;

	if (output->summary || output->stats_json)
		name_ledger_find_packages(&stats->names);
	if (output->summary)
		tell(output, stats);
	if (!output->stats_json)
		return 0;
	stats_json(&json, stats);
	err = str_error(&json);
	return err ? err : outfile_write(output->stats_json, json.s, json.n);
}
