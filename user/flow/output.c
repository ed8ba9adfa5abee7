// SPDX-License-Identifier: BSD-2-Clause
#include "flow/output.h"

#include "base/outfile.h"

struct view_sums output_notes(const struct output *output, const struct reading *reading)
{
	const struct timeline *timeline = &reading->timeline;
	struct view_sums sums = { 0 };

	for (size_t i = 0; i < timeline->uses.n; i++) {
		uint32_t notes = reading->stacks.items[timeline->uses.items[i].a].notes;

		if (notes & STACK_WHOLE_ASYNC << output->view)
			sums.whole += timeline->counts.items[i];
		if (notes & STACK_DOUBTED_ASYNC << output->view)
			sums.doubted += timeline->counts.items[i];
	}
	return sums;
}

int output_reading(const struct output *output, const struct reading *reading)
{
	const struct writer_options options = { .view = output->view };
	AUTO(outfile) file = NULL;
	int err = outfile_new(&file, output->path);

	if (!err)
		err = output->writer->write(file, reading, &options);
	return err ? err : outfile_finish(file);
}

static void tell(const struct output *output, const struct stats *stats)
{
	AUTO_STR text = { 0 };

	stats_summary(&text, stats);
	if (!stats->profile->samples.total)
		str_add(&text,
			"  nothing ran on a CPU while weft was looking, or a filter "
			"left it out: the profile is empty\n");
	if (output->path[0] != '-' || output->path[1])
		str_addf(&text, "  written   %s\n", output->path);
	if (!str_error(&text))
		fputs(text.s, stderr);
}

int output_stats(const struct output *output, const struct stats *stats)
{
	AUTO_STR json = { 0 };
	int err;

	if (!output->quiet)
		tell(output, stats);
	if (!output->stats_json)
		return 0;
	stats_json(&json, stats);
	err = str_error(&json);
	return err ? err : outfile_write(output->stats_json, json.s, json.n);
}
