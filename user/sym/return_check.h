/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which return addresses are none. A walk by frame pointers takes whatever lies
 * behind a saved frame pointer for one; but a true one follows a call, and that
 * can be read from the file that it lies in.
 */
#ifndef WEFT_SYM_RETURN_CHECK_H
#define WEFT_SYM_RETURN_CHECK_H

#include "core/names.h"
#include "sym/code_verdicts.h"
#include "sym/files.h"

#include <stddef.h>
#include <stdint.h>

#define RETURN_BYTES_BEFORE 8
#define RETURN_BYTES_AFTER  9 /* of a signal handler's return, which no call leads to */

/* Could these bytes around a return address be right? machine: EM_X86_64, … */
bool return_check_code(uint16_t machine, const uint8_t before[RETURN_BYTES_BEFORE],
		       const uint8_t after[RETURN_BYTES_AFTER]);

/* What is borrowed meanwhile; verdicts of earlier windows, or NULL. */
struct return_sources {
	const struct module_table *modules;
	const struct files *files;
	struct code_verdicts *verdicts;
};

/* Marks in names the frames that no call leads to; what can't be read, isn't. ret_unread:
 * frames that were not looked at, since their user's files took what one user may
 * (sym/code_frames.h); those of them that nothing proves are marked. */
int return_check(struct names *names, const struct aggregator *aggregator,
		 const struct return_sources *sources, uint64_t *ret_unread);

#endif
