/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of every run, live or off a tape: the files that were asked for. */
#ifndef WEFT_FLOW_OUTPUT_H
#define WEFT_FLOW_OUTPUT_H

#include "core/names.h"
#include "core/view.h"
#include "flow/stats.h"

#include <stdbool.h>

struct output {
	const char *path, *stats_json;
	enum view view;
	bool quiet; /* no summary on stderr */
};

/* Names what has none, writes the profile. *ret_notes: see out/folded.h. */
int output_profile(const struct output *output, const struct profile *profile,
		   const struct module_table *modules, struct names *names,
		   struct folded_notes *ret_notes);

/* Then the ledger, as JSON where asked for and for the person. */
int output_stats(const struct output *output, const struct stats *stats);

#endif
