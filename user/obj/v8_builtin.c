// SPDX-License-Identifier: BSD-2-Clause
#include "obj/v8_builtin.h"

#include "obj/x86_insn.h"

#define BYTES_MIN 7 /* that are looked at: a mov and two pops */
#define POP	  0x58

bool v8_builtin_is_before(const uint8_t padding[V8_BUILTIN_PADDING])
{
	for (int i = 0; i < V8_BUILTIN_PADDING; i++)
		if (padding[i] != X86_INT3)
			return false;
	return true;
}

/* Bytes of an instruction that takes a register off the stack; 0: it is another. */
static int pop_bytes(const uint8_t *code)
{
	if ((code[0] & 0xf8) == POP)
		return 1;
	return code[0] == 0x41 && (code[1] & 0xf8) == POP ? 2 : 0;
}

bool v8_builtin_is_returned_to(const uint8_t *code, size_t n)
{
	bool is_mov;
	int popped;

	if (n < BYTES_MIN)
		return false;
	is_mov = (code[0] & 0xf8) == 0x48 && (code[1] & 0xfd) == 0x89;
	if (is_mov && code[1] == 0x8b && (code[2] & 0xc7) == 0x45)
		return code[3] & 0x80;
	code += is_mov && code[2] >= 0xc0 ? 3 : 0;
	popped = pop_bytes(code);
	return popped && pop_bytes(code + popped);
}
