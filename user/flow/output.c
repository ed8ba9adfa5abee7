// SPDX-License-Identifier: BSD-2-Clause
#include "flow/output.h"

#include "base/outfile.h"
#include "out/folded.h"

int output_profile(const struct output *output, const struct profile *profile,
		   const struct module_table *modules, struct names *names,
		   struct folded_notes *ret_notes)
{
	AUTO_STR text = { 0 };
	int err = names_fill(names, profile, modules);

	if (!err)
		err = folded_write(&text, profile, modules, names, output->view,
				   ret_notes);
	return err ? err : outfile_write(output->path, text.s, text.n);
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
