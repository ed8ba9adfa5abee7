/* SPDX-License-Identifier: BSD-2-Clause */
/* A command's options, and the formats, as a man page shows them, from the same data
 * as --help. */
#ifndef WEFT_CLI_MDOC_H
#define WEFT_CLI_MDOC_H

#include "cli/commands.h"

/* From .Sh SYNOPSIS to the end of the options. tools/man puts it into the page. */
void mdoc_synopsis(struct str *out, const struct cli_command *command);
void mdoc_options(struct str *out, const struct cli_command *command);

/* What an output's ending makes of it. */
void mdoc_formats(struct str *out);

#endif
