/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between machines and kernels and can only be learned by running. */
#ifndef WEFT_KERN_ARCH_H
#define WEFT_KERN_ARCH_H

#include "shared/knobs.h"

#include <stdbool.h>

/* What ticks must know of both, for a load: of memory, of time and of kernel stacks. */
void arch_fill_knobs(struct knobs *knobs);

bool arch_kernel_is_since(unsigned int major, unsigned int minor);

#endif
