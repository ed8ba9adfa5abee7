/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trace and the span that a thread works for (shared/thread_context.h). */
#ifndef WEFT_CONTEXT_BPF_H
#define WEFT_CONTEXT_BPF_H

#include "maps.bpf.h"

/* The current thread's, if it publishes them, behind the words of its stacks. Only for
 * who has s->has_context. */
int context_add(__u32 hook);

#endif
