/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packages (.dwp) of .dwo files: the parts of all units lie one behind the other, and an
 * index tells by a unit's number which are its own. libdw 0.188 does not know that index,
 * so one unit's parts are put together as its .dwo file had them. Strings alone are
 * shared by all. DWARF 5, and what GNU had before. Foreign bytes: run in the parse
 * worker.
 */
#ifndef WEFT_OBJ_SPLIT_PACKAGE_H
#define WEFT_OBJ_SPLIT_PACKAGE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Is it a package? Then *ret is an ELF file in memory, for the caller to free, or empty
 * if the package has no such unit. A negative errno: it can't be read, or it is too
 * large. */
int split_package_take(int fd, uint64_t id, bool *ret_is_package, struct str *ret);

#endif
