/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for what had none when it was recorded: a profile says of each module its build
 * ID, and of each frame where it lies there, so a file with symbols that turns up later
 * names them. A file of another build is never used. Files are read by the parse worker,
 * as in a recording.
 */
#ifndef WEFT_REPORT_LATE_NAMES_H
#define WEFT_REPORT_LATE_NAMES_H

#include "core/profile.h"

struct late_names_options {
	const char *symfs;		    /* an absolute path; NULL: none */
	const char *debuginfod;		    /* URLs; NULL: nobody is asked */
	void (*progress)(const char *line); /* NULL: nobody wants to know */
	bool inlines; /* also inlined functions and lines, of what has none */
};

/* 0 or a negative errno; that there is nothing to be found is told, and no error. */
int late_names_find(struct profile *r, const struct late_names_options *options);

#endif
