/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runtimes whose generated code lies on a frame of one size, which it never changes. No
 * register says where that ends, and no table tells of the code; but what it is like is
 * known of each runtime, or said by its own table. x86-64.
 */
#ifndef WEFT_UNWIND_UNWIND_HOST_H
#define WEFT_UNWIND_UNWIND_HOST_H

#include "unwind/unwind_fp.h"
#include "unwind/unwind_rules.h"

/* The rule of the code that this file runs; false: it is no such host. `next` gives the
 * file's spans. */
bool unwind_host_find(struct elf_file *file, unwind_spans next, void *arg,
		      struct unwind_rule *ret);

/* Does one of its rules enter code that is compiled into files? Then that lies on its
 * frame. */
bool unwind_host_enters(const struct unwind_rules *rules, struct unwind_rule *ret);

#endif
