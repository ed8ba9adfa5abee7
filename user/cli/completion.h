/* SPDX-License-Identifier: BSD-2-Clause */
/* What a shell needs to complete weft's command lines, from the options' data. */
#ifndef WEFT_CLI_COMPLETION_H
#define WEFT_CLI_COMPLETION_H

#include "cli/commands.h"

/* commands: n of them. False: no such shell. */
bool completion_write(struct str *out, const char *shell,
		      const struct cli_command *const *commands, size_t n);

#endif
