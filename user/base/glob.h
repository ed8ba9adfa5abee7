/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns of whole names: * stands for anything, ? for a character. Nothing else
 * has a meaning, since brackets and backslashes are parts of names. */
#ifndef WEFT_BASE_GLOB_H
#define WEFT_BASE_GLOB_H

#include <stdbool.h>

bool glob_matches(const char *pattern, const char *name);

#endif
