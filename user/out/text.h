/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reading for the person at the terminal: the functions as a table and the
 * stacks as a tree, or both as JSON.
 */
#ifndef WEFT_OUT_TEXT_H
#define WEFT_OUT_TEXT_H

#include "base/outfile.h"
#include "core/tree.h"

struct text_options {
	enum view view;
	enum tree_group group;
	unsigned int top;    /* rows of the table; 0: all */
	unsigned int least;  /* per mille of all: smaller branches are left out */
	const char *caller;  /* who calls it, a pattern; or NULL */
	const char *callee;  /* what it calls; or NULL */
	uint64_t unfiltered; /* samples before filters */
	bool invert, no_kernel;
	bool colours;
};

int text_write(struct outfile *out, const struct reading *reading,
	       const struct text_options *options);
int text_write_json(struct outfile *out, const struct reading *reading,
		    const struct text_options *options);

/* The tree that the options mean. */
struct tree_options text_tree_options(const struct text_options *options);

#endif
