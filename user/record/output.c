// SPDX-License-Identifier: BSD-2-Clause
#include "record/output.h"

#include "base/outfile.h"

#include <string.h>
#include <sys/stat.h>

int output_profile(const struct output *output, const struct profile *profile)
{
	const struct writer_options options = { .view = output->view,
						.short_names = true };
	AUTO(outfile) file = NULL;
	int err = outfile_new(&file, output->path);

	if (!err)
		err = output->writer->write(file, profile, &options);
	return err ? err : outfile_finish(file);
}

static void add_size(struct str *out, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		str_add_char(out, '\n');
	else if (st.st_size < 10 << 10)
		str_addf(out, ", %lld bytes\n", (long long)st.st_size);
	else
		str_addf(out, ", %.1f KB\n", (double)st.st_size / 1024);
}

/* The one command that is worth typing now. */
static void add_next(struct str *out, const struct output *output)
{
	const struct writer *writer = output->writer;

	if (!writer->next)
		return;
	str_addf(out, "  next      %s", writer->next);
	if (!writer->takes_usual || strcmp(output->path, USUAL_OUTPUT) != 0)
		str_addf(out, " %s", output->path);
	str_add_char(out, '\n');
}

static void tell(const struct output *output, const struct stats *stats)
{
	AUTO_STR text = { 0 };

	stats_summary(&text, stats);
	if (!stats->aggregator->samples.total)
		str_add(&text,
			"  nothing ran on a CPU while weft was looking, or a filter "
			"left it out: the profile is empty\n");
	if (output->path[0] != '-' || output->path[1]) {
		str_addf(&text, "  written   %s", output->path);
		add_size(&text, output->path);
		if (stats->aggregator->samples.total)
			add_next(&text, output);
	}
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
