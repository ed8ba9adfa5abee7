/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of every run, live or off a tape: the files that were asked for. */
#ifndef WEFT_RECORD_OUTPUT_H
#define WEFT_RECORD_OUTPUT_H

#include "record/stats.h"
#include "format/writer.h"

#include <stdbool.h>

struct output {
	const struct output_file *files; /* borrowed */
	unsigned int n;
	const char *stats_json;
	enum view view;
	void (*summary)(const char *text); /* NULL: nobody wants it */
};

/* One of the files. */
int output_profile(const struct output_file *file, const struct profile *profile,
		   enum view view);

/* Then the ledger, as JSON where asked for and for the person; with the packages that
 * would bring more names, which are looked up here. */
int output_stats(const struct output *output, struct stats *stats);

#endif
