/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the value of one option, by its kind, into a command's struct. */
#ifndef WEFT_CLI_VALUES_H
#define WEFT_CLI_VALUES_H

#include "cli/options.h"

/* value: NULL for a flag. 0, or -EINVAL with sentence and hint. */
int values_read(const struct option *option, const char *value, void *into);

#endif
