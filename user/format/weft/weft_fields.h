/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a recording's batches and of its file, as docs/weft.proto has
 * them; docs/format.md says what they mean. Columns are packed numbers; what ends
 * in _STEP is the distance to the one before it in the column, zigzag.
 */
#ifndef WEFT_FORMAT_WEFT_WEFT_FIELDS_H
#define WEFT_FORMAT_WEFT_WEFT_FIELDS_H

#include "weft_proto.h"

#define WEFT_MAGIC "weft recording 2\n"
/* What a file begins with: the first field, whose length is in its second byte. */
#define WEFT_MAGIC_FIELD "\x0a\x11" WEFT_MAGIC

#define BLOCK_RAW_MAX	  (64u << 20)
#define BATCH_RAW_USUALLY (4u << 20) /* a larger one is split, where it can be */

#endif
