/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_TESTS_CODES_H
#define WEFT_TESTS_CODES_H

#include "core/view.h"

#include <stddef.h>

#define CODES_MAX (STACK_HEAD + 2 * 2048)

/* A record as a stack of codes, without names: a frame's id is the place of its
 * word. codes[CODES_MAX]; returns how many. */
size_t record_codes(const struct sample_rec *rec, uint32_t *codes);

#endif
