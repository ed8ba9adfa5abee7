/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generated code that keeps no frame pointers, of whose frames nobody tells ticks
 * anything: where stacks are lost in it, it is copied, read as a file without call frame
 * information is, and walked by that while it is what was copied.
 */
#ifndef WEFT_PUBLISH_COPIES_H
#define WEFT_PUBLISH_COPIES_H

#include "publish/publisher_parts.h"

#define COPY_WHOLE_BYTES  (256u << 10) /* of a mapping: more is copied in parts */
#define COPY_PART_BYTES	  (128u << 10) /* so large, and what functions may lie around */
#define COPY_AROUND_BYTES (64u << 10)  /* X86_FLOW_AROUND */

/* A sample, checked: was its stack lost in generated code? Then that is copied, unless
 * this was done a moment ago: who changes his code all the time is asked less often. */
void copies_on_sample(struct publisher *p, const struct sample_rec *rec);

#endif
