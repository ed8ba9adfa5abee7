/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a table's head page can be one. For tables that come from elsewhere, the
 * worker or a disk: the parts of the table lie in its pages.
 */
#ifndef WEFT_UNWIND_UNWIND_HEAD_H
#define WEFT_UNWIND_UNWIND_HEAD_H

#include "shared/unwind.h"

#include <stdbool.h>
#include <stdint.h>

bool unwind_head_holds(const struct unwind_head *head, uint32_t n_pages);

#endif
