/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of what threads work for, as OTEP 4947 has them: a sample has indexes and
 * values, its process's context says which key an index is. Only those leave weft whose
 * keys somebody allowed. Values are anybody's: bounded, and made clean text.
 */
#ifndef WEFT_RECORD_ATTRIBUTES_H
#define WEFT_RECORD_ATTRIBUTES_H

#include "core/aggregator.h"
#include "core/profile.h"
#include "record/declared.h"

/* Of a closed window, whose contexts declared_parse() took apart: its stacks have their
 * attributes, and the ledger says how many samples have some that nobody can name. */
int attributes_name(struct profile *profile, const struct aggregator *aggregator,
		    struct declared *declared);

#endif
