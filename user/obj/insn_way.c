// SPDX-License-Identifier: BSD-2-Clause
#include "obj/insn_way.h"

#include "obj/arm64_insn.h"
#include "obj/x86_insn.h"

#include <elf.h>
#include <string.h>

static bool is_ret(const uint8_t *code)
{
	code += *code == 0xf2 || *code == 0xf3;
	return *code == 0xc2 || *code == 0xc3;
}

static bool read_x86(const uint8_t *code, size_t n, struct insn_way *ret)
{
	bool by_register;

	ret->bytes = x86_insn_bytes(code, n, &ret->calls);
	if (!ret->bytes)
		return false;
	ret->is_direct = x86_insn_distance(code, ret->bytes, &ret->to);
	ret->to += (int64_t)ret->bytes;
	ret->leaves = x86_insn_leaves(code, ret->bytes, &by_register);
	ret->returns = ret->leaves && is_ret(code);
	ret->traps = ret->leaves && !ret->is_direct && !by_register && !ret->returns;
	return true;
}

static bool read_arm64(const uint8_t *code, size_t n, struct insn_way *ret)
{
	bool by_register;
	uint32_t insn;

	if (n < sizeof(insn))
		return false;
	memcpy(&insn, code, sizeof(insn));
	ret->bytes = sizeof(insn);
	ret->calls = arm64_insn_calls(insn);
	ret->is_direct = arm64_insn_distance(insn, &ret->to);
	ret->traps = arm64_insn_is_padding(insn) && insn != ARM64_NOP;
	ret->leaves = ret->traps || arm64_insn_leaves(insn, &by_register);
	ret->returns = ret->leaves && !ret->traps && !ret->is_direct && !by_register;
	return true;
}

bool insn_way_read(uint16_t machine, const uint8_t *code, size_t n, struct insn_way *ret)
{
	*ret = (struct insn_way){ 0 };
	return machine == EM_X86_64 ? read_x86(code, n, ret) : read_arm64(code, n, ret);
}
