/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a symbol, as it stands in a file, to the name that is shown: C++
 * without parameters, Rust (legacy and v0) without hashes, all else as it is;
 * versions (@GLIBC_2.2.5) and .llvm.1234 are taken off. What a compiler
 * appended to tell clones apart stays, so that a coroutine's body is still
 * known by .resume or .actor.
 */
#ifndef WEFT_OBJ_DEMANGLE_H
#define WEFT_OBJ_DEMANGLE_H

#include <stddef.h>

#define NAME_BYTES_MOST	   1024 /* of a shown name, its NUL included; longer are cut */
#define MANGLED_BYTES_MOST 2048 /* longer ones are left as they are */

/* Writes the clean (str_clean) name of n bytes at symbol; returns its length.
 * room is NAME_BYTES_MOST or less. Does not allocate in proportion to what a
 * hostile name would expand to. */
size_t demangle(char *out, size_t room, const char *symbol, size_t n);

#endif
