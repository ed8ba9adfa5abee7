/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs with Go's table of functions, made of tests/fuzz/go.S without Go. */
#ifndef WEFT_TESTS_GO_PROGRAM_H
#define WEFT_TESTS_GO_PROGRAM_H

#include "elf_files.h"

__asm__(".section .rodata\ngo_source: .incbin \"tests/fuzz/go.S\"\n.byte 0\n.previous\n");
extern const char go_source[];

static inline int go_setup(void **state)
{
	if (files_setup(state))
		return -1;
	write_file("go.S", go_source, strlen(go_source));
	return shell("gcc -nostdlib -static -o go go.S && strip -o stripped go &&"
		     "gcc -DNO_TEXT -nostdlib -static-pie -o pie go.S");
}

#endif
