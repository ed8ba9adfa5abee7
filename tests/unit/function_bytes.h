/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions as bytes, of both machines. */
#ifndef TESTS_FUNCTION_BYTES_H
#define TESTS_FUNCTION_BYTES_H

#include "unwind/function_code.h"

#include <elf.h>

#define X86(...)                                                                         \
	(struct function_code)                                                           \
	{                                                                                \
		EM_X86_64, (const uint8_t[]){ __VA_ARGS__ },                             \
			sizeof((const uint8_t[]){ __VA_ARGS__ })                         \
	}
#define ARM64(...)                                                                       \
	(struct function_code)                                                           \
	{                                                                                \
		EM_AARCH64, (const uint8_t *)(const uint32_t[]){ __VA_ARGS__ },          \
			sizeof((const uint32_t[]){ __VA_ARGS__ })                        \
	}

#define CALL	 0xe8, 0, 0, 0, 0
#define CALL_RCX 0xff, 0xd1
#define RET	 0xc3
#define UD2	 0x0f, 0x0b

#define BL	0x94000000u
#define BLR	0xd63f0020u /* by x1 */
#define CBZ_8	0xb4000040u
#define RET_X30 0xd65f03c0u
#define NOP	0xd503201fu

#endif
