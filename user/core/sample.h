/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample's record, checked: a tape may hold any bytes. */
#ifndef WEFT_CORE_SAMPLE_H
#define WEFT_CORE_SAMPLE_H

#include "shared/record.h"

#include <stddef.h>

/* A day: sums of as many samples as there can be don't overflow. */
#define SAMPLE_WEIGHT_MAX_NS 86400000000000ULL

/* -EBADMSG: its counts don't fit its length, each other or its words. */
int sample_check(const struct sample_rec *rec, size_t bytes);

#endif
