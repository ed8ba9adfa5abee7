/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile for the person at the terminal: the functions as a table and the
 * stacks as a tree, or both as JSON.
 */
#ifndef WEFT_FORMAT_TEXT_TEXT_H
#define WEFT_FORMAT_TEXT_TEXT_H

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
	unsigned int letters; /* of a name; "…" for the middle of longer ones; 0: all */
	unsigned int columns; /* of a row, which shorten names as well; 0: no matter */
};

int text_write(struct outfile *out, const struct profile *profile,
	       const struct text_options *options);
int text_write_json(struct outfile *out, const struct profile *profile,
		    const struct text_options *options);

/* The tree that the options mean. */
struct tree_options text_tree_options(const struct text_options *options);

/* The smallest count that is not less than so many per mille, at most 1000, of what the
 * tree holds, which may be so much that its thousandfold is no number. */
uint64_t text_least(const struct tree *tree, unsigned int per_mille);

#endif
