/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registers that a function's end has taken off the stack already, while its call
 * frame information still says where they were saved (clang writes so). That is
 * below the stack pointer, and the kernel's copy begins there. The register has
 * its old value again, so the place has that of the register.
 */
#ifndef CROSSCHECK_POPPED_H
#define CROSSCHECK_POPPED_H

#include "machine.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* Does call frame information cover that address? */
bool popped_is_told(Dwfl *dwfl, uint64_t pc);

/* regs: of the sampled frame, by DWARF's numbers. False: no register was there. */
bool popped_read(Dwfl *dwfl, uint64_t pc, const Dwarf_Word regs[N_DWARF], uint64_t addr,
		 uint64_t *ret);

#endif
