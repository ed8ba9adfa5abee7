/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a symbol, as it stands in a file, to the name that is shown: C++
 * without parameters, Rust (legacy and v0) without hashes, all else as it is;
 * versions (@GLIBC_2.2.5) and .llvm.1234 are taken off. What a compiler
 * appended to tell clones apart stays, so that a coroutine's body is still
 * known by .resume or .actor.
 *
 * What libiberty gives up on stays mangled. What it would make longer than a name
 * may be (base/name.h) is shortened, with the hash of the symbol.
 */
#ifndef WEFT_OBJ_DEMANGLE_H
#define WEFT_OBJ_DEMANGLE_H

#include "base/name.h"

#define MANGLED_BYTES_MAX (64u << 10) /* longer ones are left as they are */
/* What names of more than 1 KB want of the stack's limit; else they stay mangled. */
#define DEMANGLE_STACK_BYTES (64u << 20)

/* Adds the clean name of n bytes at symbol, shorter than NAME_BYTES_MAX. Memory
 * and work are bounded, whatever a hostile name would expand to. */
void demangle(struct str *out, const char *symbol, size_t n);

#endif
