// SPDX-License-Identifier: BSD-2-Clause
#include "popped.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

static Dwarf_Frame *frame_of(Dwarf_CFI *cfi, Dwarf_Addr pc)
{
	Dwarf_Frame *frame;

	return cfi && !dwarf_cfi_addrframe(cfi, pc, &frame) ? frame : NULL;
}

static Dwarf_Frame *find_frame(Dwfl *dwfl, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = frame_of(cfi, pc - bias);

	if (frame || !module)
		return frame;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return frame_of(cfi, pc - bias);
}

static bool find_cfa(Dwarf_Frame *frame, const Dwarf_Word regs[N_DWARF], uint64_t *ret)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return false;
	if (ops->atom == DW_OP_bregx && ops->number < N_DWARF)
		*ret = regs[ops->number] + ops->number2;
	else if (ops->atom >= DW_OP_breg0 && ops->atom < DW_OP_breg0 + N_DWARF)
		*ret = regs[ops->atom - DW_OP_breg0] + ops->number;
	else
		return false;
	return true;
}

/* Is this register said to be saved at CFA + so much? */
static bool saved_at(Dwarf_Frame *frame, int reg, uint64_t cfa, uint64_t addr)
{
	Dwarf_Op room[3], *ops;
	size_t n;

	return !dwarf_frame_register(frame, reg, room, &ops, &n) && n == 2 &&
	       ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst &&
	       cfa + ops[1].number == addr;
}

bool popped_is_told(Dwfl *dwfl, uint64_t pc)
{
	Dwarf_Frame *frame = find_frame(dwfl, pc);
	bool is_told = frame != NULL;

	free(frame);
	return is_told;
}

bool popped_read(Dwfl *dwfl, uint64_t pc, const Dwarf_Word regs[N_DWARF], uint64_t addr,
		 uint64_t *ret)
{
	Dwarf_Frame *frame = find_frame(dwfl, pc);
	bool found = false;
	uint64_t cfa;

	if (frame && find_cfa(frame, regs, &cfa)) {
		for (int reg = 0; !found && reg < N_DWARF; reg++) {
			found = saved_at(frame, reg, cfa, addr);
			*ret = found ? regs[reg] : *ret;
		}
	}
	free(frame);
	return found;
}
