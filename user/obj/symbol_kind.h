/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of ELF symbols that assemblers and compilers make up. */
#ifndef WEFT_OBJ_SYMBOL_KIND_H
#define WEFT_OBJ_SYMBOL_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* Assembler's own: arm64's $x and $d, also as $x.1, tell code from data, .L is a label.
 * Names of Swift begin with a $, too. */
bool symbol_is_mapping(const char *name, size_t n);

/* What begins where a symbol without size lies. Each kind ends what those before it of
 * its own and of later kinds may name. */
enum symbol_start {
	START_FUNCTION,
	START_LABEL, /* assembly's own, perhaps of a function that nobody else calls */
	START_PART,  /* by its name, one in a function: NASM's function.loop, ..@4.loop */
	N_SYMBOL_STARTS,
};

/* Of one of assembly's own, by its name. */
enum symbol_start symbol_label_start(const char *name, size_t n);

/* Does its name say that it is a part of that? */
bool symbol_is_part_of(const char *name, size_t n, const char *whole, size_t n_whole);

#define SYMBOL_STARTUP_MAX 80 /* bytes of one; arm64's largest has 76 */

/* gcc's own, that it puts into each program, of no size: what lies behind them is not
 * theirs. GHC has few symbols of its own there. */
bool symbol_is_startup(const char *name, size_t n);

#endif
