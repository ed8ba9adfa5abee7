/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generated code that keeps no frame pointers, of whose frames nobody tells ticks
 * anything: where stacks are lost in it, it is copied, read as a file without call frame
 * information is, and walked by that while it is what was copied.
 *
 * Where most stacks lead on by a frame pointer, that is kept, and nothing is copied. But
 * where such code leaves the register alone, its caller's caller is found by that, and
 * the stack is not lost but wrong. So of a program whose stacks are often lost in
 * generated code, that is copied also where it leads on by a frame pointer that nothing
 * proves.
 */
#ifndef WEFT_PUBLISH_COPIES_H
#define WEFT_PUBLISH_COPIES_H

#include "publish/publisher_parts.h"

#define COPY_WHOLE_BYTES  (256u << 10) /* of a mapping: more is copied in parts */
#define COPY_PART_BYTES	  (128u << 10) /* so large, and what functions may lie around */
#define COPY_AROUND_BYTES (64u << 10)  /* X86_FLOW_AROUND */

/* A sample, checked. What generated code is to be copied for it is, unless this was done
 * a moment ago: who changes his code all the time is asked less often. */
void copies_on_sample(struct publisher *p, const struct sample_rec *rec);

void copies_free(struct publisher *p); /* what it keeps of programs */

#endif
