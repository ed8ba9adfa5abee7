/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft report` does once its command line is understood: reads recordings
 * or what other tools wrote, and shows or writes them.
 */
#ifndef WEFT_REPORT_REPORT_H
#define WEFT_REPORT_REPORT_H

#include "core/filter.h"
#include "format/text/text.h"
#include "format/writer.h"
#include "report/late_names.h"

#include <stdbool.h>

struct report_options {
	const char *tape; /* or files */
	char **files;	  /* paths, "-" for stdin */
	unsigned int n_files;
	const char *output;	     /* NULL: to the terminal, as text */
	const struct writer *writer; /* of output */
	bool group_files; /* output is a folder: a file for each of text's groups */
	enum view view;
	struct late_names_options late_names;
	bool no_labels;
	struct filter filter;
	struct text_options text; /* the view is filled in */
	bool no_inlines;
	bool short_names; /* on the terminal and the page; data has whole ones */
	bool json;
	void (*before_text)(void *arg); /* text for people comes now; NULL: no matter */
	void *before_text_arg;
	const char *stats_json;		   /* of a tape */
	void (*summary)(const char *text); /* of a tape; NULL: nobody wants it */
};

/* 0 or a negative errno. */
int report_run(const struct report_options *options);

#endif
