/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether code that is too large to be read seems to keep frame pointers. It is walked by
 * these, which nothing proves; and what reading it would tell, of where a frame is not
 * there yet or not any more, is not worth the seconds in which its stacks are cut.
 */
#ifndef WEFT_UNWIND_FP_TEXT_H
#define WEFT_UNWIND_FP_TEXT_H

#include "obj/elf_file.h"

/* Of n bytes of a file's x86-64 code at an offset. No, too, if they can't be read. */
bool fp_text_is(struct elf_file *file, uint64_t offset, uint64_t n);

#endif
