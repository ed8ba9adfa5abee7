/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples between proven and unproven: each of their steps by frame pointer leads out of
 * generated code that its runtime has named, so there is a function, and its engine may
 * be known to keep frame pointers (Cranelift, V8 and .NET do). Nothing was cut from them,
 * so all else was stepped to by a table, and a call ends before each return address that
 * lies in a file.
 */
#ifndef WEFT_RECORD_UNPROVEN_H
#define WEFT_RECORD_UNPROVEN_H

#include "record/name_ledger.h"

/* How many samples of the profile are such; 0 or -ENOMEM. */
int unproven_count_generated(const struct name_ledger_source *source, uint64_t *ret);

#endif
