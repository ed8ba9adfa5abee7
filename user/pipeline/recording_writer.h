/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live recording on its way into a file that takes it bit by bit: each second's
 * part is there before the next one is. A full disk ends the writing, not the
 * recording; what was written until then stays.
 */
#ifndef WEFT_PIPELINE_RECORDING_WRITER_H
#define WEFT_PIPELINE_RECORDING_WRITER_H

#include "base/cleanup.h"
#include "format/writer.h"
#include "pipeline/profile_builder.h"

#include <stdint.h>

struct recording_writer;

/* writer: one with a stream. gather, profile: borrowed, and outlive it. */
int recording_writer_new(struct recording_writer **ret, const struct writer *writer,
			 const char *path, struct profile_builder *builder,
			 struct aggregator *aggregator);
void recording_writer_free(struct recording_writer *recording_writer);
DEFINE_FREEP(recording_writer)

/* Call about once a second. Only lack of memory is an error. */
int recording_writer_update(struct recording_writer *recording_writer);

/* The rest, after profile_builder_finish(). What could not be written is told here. */
int recording_writer_finish(struct recording_writer *recording_writer);

uint64_t recording_writer_bytes(const struct recording_writer *recording_writer);

#endif
