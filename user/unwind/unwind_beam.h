/* SPDX-License-Identifier: BSD-2-Clause */
/* Erlang's runtime, BEAM: where what enters its generated code is called. */
#ifndef WEFT_UNWIND_UNWIND_BEAM_H
#define WEFT_UNWIND_UNWIND_BEAM_H

#include "obj/elf_file.h"
#include "shared/unwind.h"

/*
 * Of an x86-64 file that exports what Erlang's runtime does. The address as linked that
 * generated code would return to into *ret, as its cfa_offset; false: nobody in this file
 * says what a scheduler's thread does, or it is no such file.
 */
bool unwind_beam_find(struct elf_file *file, struct unwind_rule *ret);

#endif
