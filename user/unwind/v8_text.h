/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where V8's builtins lie in code that is too large to be read. Chromium and Deno are
 * built without call frame information: gaps of up to 97 MB, of which 2 MB are the
 * builtins.
 */
#ifndef WEFT_UNWIND_V8_TEXT_H
#define WEFT_UNWIND_V8_TEXT_H

#include "obj/elf_file.h"

/* Of the n bytes of a file at an offset, some; *ret_begin and *ret_end count from there.
 * They hold all of the builtins and less than 128 KB of what lies around. False, and
 * neither is set: there are none, or they can't be read. */
bool v8_text_find(struct elf_file *file, uint64_t offset, uint64_t n, size_t *ret_begin,
		  size_t *ret_end);

/* Are the n bytes builtins, all of them or most? */
bool v8_text_is(struct elf_file *file, uint64_t offset, uint64_t n);

#endif
