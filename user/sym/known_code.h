/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that outlive windows as being nothing special: what the code around them says
 * was looked at (sym/return_check.h), and each is a return address behind a call, or a
 * leaf that switches no stack. Most of a window's frames were in the one before. What no
 * window has in a while is let go; beyond a limit nothing more is kept.
 */
#ifndef WEFT_SYM_KNOWN_CODE_H
#define WEFT_SYM_KNOWN_CODE_H

#include "base/cleanup.h"
#include "core/aggregator.h"

struct known_code;

int known_code_new(struct known_code **ret);
void known_code_free(struct known_code *known);
DEFINE_FREEP(known_code)

/* serial: of the frame's module (core/module.h), whose file is as it was mapped. Was it
 * added? Then it is kept for longer. */
bool known_code_has(struct known_code *known, uint64_t serial, const struct frame *frame);

/* Where there is no memory it is not kept, which costs another look. */
void known_code_add(struct known_code *known, uint64_t serial, const struct frame *frame);

/* A window was checked. */
void known_code_turn(struct known_code *known);

/* All of it; returns how many bytes that were. */
uint64_t known_code_clear(struct known_code *known);

#endif
