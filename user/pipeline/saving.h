/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live recording on its way into a *.weft file: each second's part is there
 * before the next one is. A disk that fills up ends the saving, not the
 * recording; what was saved until then stays.
 */
#ifndef WEFT_PIPELINE_SAVING_H
#define WEFT_PIPELINE_SAVING_H

#include "base/cleanup.h"
#include "pipeline/profile_builder.h"

#include <stdint.h>

struct saving;

/* builder, aggregator: borrowed, and outlive it. */
int saving_new(struct saving **ret, const char *path, struct profile_builder *builder,
	       struct aggregator *aggregator);
void saving_free(struct saving *saving);
DEFINE_FREEP(saving)

/* Call about once a second. Only lack of memory is an error. */
int saving_more(struct saving *saving);

/* The rest, after profile_builder_finish(). What could not be written is told here. */
int saving_finish(struct saving *saving);

uint64_t saving_bytes(const struct saving *saving);

#endif
