/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip of what is in memory. */
#ifndef WEFT_DELIVER_PACK_H
#define WEFT_DELIVER_PACK_H

#include "base/str.h"

/* 0 or -ENOMEM. */
int pack(const struct str *plain, struct str *out);

/* Is it whole? gzip keeps a sum of what it packed. At most 256 MB come out. */
bool unpack(const struct str *packed, struct str *out);

#endif
