/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an instruction of x86-64 or arm64 leads. */
#ifndef WEFT_OBJ_INSN_WAY_H
#define WEFT_OBJ_INSN_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn_way {
	size_t bytes;
	bool calls;
	bool leaves;	/* never goes on behind itself */
	bool returns;	/* LEAVES: to where a return address leads */
	bool traps;	/* LEAVES: for good */
	bool is_direct; /* a jump or a call, which leads */
	int64_t to;	/* there, from its first byte */
};

/* Of n bytes of code of EM_X86_64 or EM_AARCH64. False: there is no instruction. */
bool insn_way_read(uint16_t machine, const uint8_t *code, size_t n, struct insn_way *ret);

#endif
