/* SPDX-License-Identifier: BSD-2-Clause */
/* Which registers the kernel gives, in its order, and which DWARF calls what. */
#ifndef CROSSCHECK_MACHINE_H
#define CROSSCHECK_MACHINE_H

#include <stdint.h>

#if defined(__x86_64__)

/* asm/perf_regs.h: all of a 64-bit task's, which has no ds, es, fs, gs there */
#define KERNEL_REGS 0xff0fffULL
#define N_REGS	    20
#define REG_SP	    7
#define N_DWARF	    17 /* the return address's column, rip, is the last */

static const unsigned char dwarf_regs[N_DWARF] = {
	0, 3, 2, 1, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19, 8,
};

#elif defined(__aarch64__)

#define KERNEL_REGS ((1ULL << 33) - 1)
#define N_REGS	    33
#define REG_SP	    31
#define REG_PC	    32
#define N_DWARF	    32

#else
#error "the kernel's order of registers is not written down for this machine"
#endif

#endif
