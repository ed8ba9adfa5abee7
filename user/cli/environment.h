/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that variables of the environment give, as WEFT_AGENT_SPOOL_SIZE=1G. */
#ifndef WEFT_CLI_ENVIRONMENT_H
#define WEFT_CLI_ENVIRONMENT_H

#include "cli/options.h"

/*
 * Reads into the struct at `into` what the command line did not give: for each option
 * with a long name, the variable that is called as it is, in capitals behind prefix and
 * with _ for -. An empty one counts as none, and one of an option that may be repeated
 * has values with commas. Bits of the options so found are set in *ret_seen. Strings
 * point into *ret_text, which the caller frees after them. 0, or a negative errno with a
 * sentence that names the variable.
 */
int environment_read(const char *prefix, const struct given *given, void *into,
		     uint64_t *ret_seen, char **ret_text);

#endif
