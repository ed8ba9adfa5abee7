/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guesses from a file's code whether its functions keep frame pointers: looks
 * at the first bytes of functions that are spread evenly over the file. Never a
 * proof, since hand-written and shared tails have no prologue. Runs in the
 * parse worker.
 */
#ifndef WEFT_OBJ_FRAME_POINTERS_H
#define WEFT_OBJ_FRAME_POINTERS_H

#include <stdint.h>

#define PROLOGUES_MOST 500

struct frame_pointers {
	uint32_t looked_at; /* functions; 0: none was found */
	uint32_t kept;	    /* of these, that set up a frame pointer */
};

/* fd is borrowed and read with pread(2). 0 or a negative errno. */
int frame_pointers_guess(int fd, struct frame_pointers *ret);

#endif
