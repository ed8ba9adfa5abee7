/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the page's writer share. The page (out/page/) is one HTML
 * file with the profile in it as JSON; out/page/data.js says what that holds.
 *
 * A profile tells addresses apart, the page functions: {name, module, type}. So
 * its nodes, stacks and sample keys are numbered anew, those that nothing was counted
 * for are left out, and the page gets what it can draw.
 */
#ifndef WEFT_FORMAT_HTML_HTML_WRITE_H
#define WEFT_FORMAT_HTML_HTML_WRITE_H

#include "base/json.h"
#include "core/short_names.h"
#include "format/output_buffer.h"
#include "format/writer.h"

#define HTML_NODES_MAX (8u << 20)
#define HTML_UNUSED    UINT32_MAX

struct html_function {
	uint32_t name, module, type; /* strings and modules of the page */
};

/* What frames and marks are; the first five are enum frame_type. Known to data.js. */
enum html_kind {
	HTML_ASKED = FRAME_TYPE_INLINED + 1,
	HTML_WAITS,
	HTML_OTHER_THREAD,
	HTML_GAP,
	HTML_CUT,
	HTML_LABEL,
	HTML_RESUMED,
};

struct html {
	const struct profile *profile;
	struct output_buffer buffer;
	struct json json; /* onto pen's text */
	struct str scratch;
	struct intern *texts;	    /* the page's strings; 0 is "" */
	struct intern *functions;   /* of struct html_function; marks are such, too */
	struct short_names *shorts; /* NULL: names stay whole */
	VEC(uint32_t) files;	    /* by function: string */
	VEC(uint32_t) whole;	  /* by function: its whole name, of several the first */
	VEC(uint32_t) modules;	  /* of the page: the profile's */
	struct pairs nodes;	  /* a = parent, b = function; 0 is the root */
	struct pairs stacks;	  /* a = async leaf, b = thread's leaf */
	struct pairs sample_keys; /* a = stack, b = thread */
	VEC(uint64_t) sums;	  /* by sample key: what is not in a cell yet */
	VEC(uint32_t) threads, processes; /* of the page: the profile's */
	struct intern *containers;	  /* names, counted from 0 */
	/* the page's number by the profile's, or HTML_UNUSED */
	uint32_t *function_of, *module_of, *node_of, *sample_key_of, *thread_of,
		*process_of;
	uint64_t cell_s;
	uint32_t cell;			/* the one at hand: */
	uint64_t *in_cell;		/* its counts, by sample key */
	VEC(uint32_t) cell_sample_keys; /* those that it has */
	uint64_t left_out;		/* counts in stacks that were shortened */
};

/* The page's string of a text. */
int html_text(struct html *h, const char *text, uint32_t *ret);

/* Numbers everything anew: functions, nodes, stacks, sample keys. */
int html_number(struct html *h);

/* "uses", "cells" and "undated". */
int html_write_samples(struct html *h);

#endif
