/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live recording on its way into a file that takes it bit by bit: each second's
 * part is there before the next one is. A disk that fills up ends the saving, not the
 * recording; what was saved until then stays.
 */
#ifndef WEFT_PIPELINE_SAVING_H
#define WEFT_PIPELINE_SAVING_H

#include "base/cleanup.h"
#include "format/writer.h"
#include "pipeline/gather.h"

#include <stdint.h>

struct saving;

/* writer: one with a stream. gather, profile: borrowed, and outlive it. */
int saving_new(struct saving **ret, const struct writer *writer, const char *path,
	       struct gather *gather, struct profile *profile);
void saving_free(struct saving *saving);
DEFINE_FREEP(saving)

/* Call about once a second. Only lack of memory is an error. */
int saving_more(struct saving *saving);

/* The rest, after gather_finish(). What could not be written is told here. */
int saving_finish(struct saving *saving);

uint64_t saving_bytes(const struct saving *saving);

#endif
