/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile without the words that a program put between its callers. */
#ifndef WEFT_CORE_LABELS_H
#define WEFT_CORE_LABELS_H

#include "core/profile.h"

/* What lies behind a label then follows what lies before it. 0 or -ENOMEM. */
int profile_drop_labels(struct profile *profile);

#endif
