/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the page's writer share. The page (out/page/) is one HTML
 * file with the reading in it as JSON; out/page/data.js says what that holds.
 *
 * A reading tells addresses apart, the page functions: {name, module, place}. So
 * its nodes, stacks and uses are numbered anew, those that nothing was counted
 * for are left out, and the page gets what it can draw.
 */
#ifndef WEFT_FORMAT_HTML_HTML_WRITE_H
#define WEFT_FORMAT_HTML_HTML_WRITE_H

#include "base/json.h"
#include "format/pen.h"
#include "format/writer.h"

#define HTML_NODES_MAX (8u << 20)
#define HTML_UNUSED    UINT32_MAX

struct html_function {
	uint32_t name, module, place; /* strings and modules of the page */
};

/* What frames and marks are; the first five are enum place. Known to data.js. */
enum html_kind {
	HTML_ASKED = PLACE_INLINED + 1,
	HTML_WAITS,
	HTML_OTHER_THREAD,
	HTML_GAP,
	HTML_CUT,
};

struct html {
	const struct reading *reading;
	struct pen pen;
	struct json json; /* onto pen's text */
	struct str scratch;
	struct intern *texts;	  /* the page's strings; 0 is "" */
	struct intern *functions; /* of struct html_function; marks are such, too */
	VEC(uint32_t) files;	  /* by function: string */
	VEC(uint32_t) modules;	  /* of the page: the reading's */
	struct pairs nodes;	  /* a = parent, b = function; 0 is the root */
	struct pairs stacks;	  /* a = async leaf, b = thread's leaf */
	struct pairs uses;	  /* a = stack, b = thread */
	VEC(uint64_t) sums;	  /* by use: what is not in a cell yet */
	VEC(uint32_t) threads, processes; /* of the page: the reading's */
	struct intern *containers;	  /* names, counted from 0 */
	/* the page's number by the reading's, or HTML_UNUSED */
	uint32_t *function_of, *module_of, *node_of, *use_of, *thread_of, *process_of;
	uint64_t cell_s;
	uint32_t cell;		 /* the one at hand: */
	uint64_t *in_cell;	 /* its counts, by use */
	VEC(uint32_t) cell_uses; /* those that it has */
	uint64_t left_out;	 /* counts in stacks that were shortened */
};

/* The page's string of a text. */
int html_text(struct html *h, const char *text, uint32_t *ret);

/* Numbers everything anew: functions, nodes, stacks, uses. */
int html_number(struct html *h);

/* "uses", "cells" and "undated". */
int html_write_samples(struct html *h);

#endif
