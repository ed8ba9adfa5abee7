/* SPDX-License-Identifier: BSD-2-Clause */
/* What `weft agent` would do: each setting as it is in the end, in the form of a
 * configuration file, and where it comes from. */
#ifndef WEFT_CLI_PRINT_CONFIG_H
#define WEFT_CLI_PRINT_CONFIG_H

#include "base/str.h"
#include "cli/agent_line.h"

/* Of a line that was checked. No token, password, value of a header, or what a URL has
 * of these is in it. */
void print_config(struct str *out, const struct agent_line *line,
		  const struct option *options, const struct given *given);

#endif
