/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of ELF symbols that assemblers and compilers make up. */
#ifndef WEFT_OBJ_SYMBOL_KIND_H
#define WEFT_OBJ_SYMBOL_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* Assembler's own: arm64's $x and $d, also as $x.1, tell code from data, .L is a label.
 * Names of Swift begin with a $, too. */
bool symbol_is_mapping(const char *name, size_t n);

#define SYMBOL_STARTUP_MAX 80 /* bytes of one; arm64's largest has 76 */

/* gcc's own, that it puts into each program, of no size: what lies behind them is not
 * theirs. GHC has few symbols of its own there. */
bool symbol_is_startup(const char *name, size_t n);

#endif
