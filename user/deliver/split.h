/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The series of a pprof profile of weft's: its samples by the labels that tell series
 * apart, which a comment names (PPROF_SERIES_COMMENT). Without the comment there is one
 * series, of no labels of its own.
 */
#ifndef WEFT_DELIVER_SPLIT_H
#define WEFT_DELIVER_SPLIT_H

#include "base/cleanup.h"
#include "base/label.h"
#include "base/str.h"
#include "deliver/pprof_part.h"

struct split;

/* plain stays borrowed. 0, -ENOMEM, or -EBADMSG: it is not as weft writes them. */
int split_new(struct split **ret, const struct str *plain);
void split_free(struct split *split);
DEFINE_FREEP(split)

bool split_is_told(const struct split *split); /* by the comment */
size_t split_count(const struct split *split);

/* Of a series; service_name is always among them. Borrowed. */
const struct label *split_labels(const struct split *split, size_t series, size_t *ret_n);

/* Which series a sample is of, and which of its labels are the series'. */
struct pprof_pick split_pick(const struct split *split, size_t series);

#endif
