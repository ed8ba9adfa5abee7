/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic with ledgers, which know no other fields than counts. */
#ifndef WEFT_KERN_LEDGER_H
#define WEFT_KERN_LEDGER_H

#include "shared/losses.h"

void ledger_add(struct ledger *sum, const struct ledger *one);

/* What was counted between two readings of one ledger. */
struct ledger ledger_since(const struct ledger *now, const struct ledger *before);

#endif
