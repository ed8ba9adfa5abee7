// SPDX-License-Identifier: BSD-2-Clause
#include "sym/switches.h"

#include "base/error.h"
#include "obj/fde_index.h"
#include "unwind/arm64_stack.h"
#include "unwind/x86_insn.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define SWITCH_CODE_MAX 1024 /* of a function before the leaf's pc */

/* What goes into the stack pointer is an operand's register 4: most code has none. */
static bool may_take_sp(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		bool to_reg = code[i] == 0x8b || code[i] == 0x8d || code[i] == 0x87;

		if ((to_reg && (code[i + 1] & 0x38) == 0x20) ||
		    (code[i] == 0x89 && (code[i + 1] & 0xc7) == 0xc4) || code[i] == 0x5c)
			return true;
	}
	return false;
}

/* From a function's first instruction up to one that is not in these bytes any more:
 * was the stack pointer taken from elsewhere, in the straight code that leads there? */
static bool switches(const uint8_t *code, size_t n)
{
	unsigned int own = 0; /* registers that hold this stack's pointer */
	bool taken = false;

	for (size_t at = 0, one; at < n; at += one) {
		struct x86_effect is;
		bool calls;

		one = x86_insn_bytes(code + at, n - at, &calls);
		if (!one)
			return false;
		is = x86_effect(code + at, one);
		taken |= is.sp == X86_SP_TAKEN &&
			 (is.from == X86_NO_REG || !(own >> is.from & 1));
		if (is.sets != X86_NO_REG)
			own &= ~(1u << is.sets);
		if (is.keeps != X86_NO_REG)
			own |= 1u << is.keeps;
		/* what lies behind is reached from elsewhere, or by a true stack */
		taken &= !is.leaves && !calls;
	}
	return taken;
}

static bool switches_arm64(const uint8_t *code, size_t n)
{
	uint32_t own = 0, insn;
	bool taken = false;

	for (size_t at = 0; at + sizeof(insn) <= n; at += sizeof(insn)) {
		struct arm64_effect is;

		memcpy(&insn, code + at, sizeof(insn));
		is = arm64_effect(insn);
		taken |= is.sp == ARM64_SP_TAKEN && !(own >> is.from & 1);
		own &= ~is.sets;
		if (is.keeps != ARM64_NO_REG)
			own |= 1u << is.keeps;
		taken &= !is.leaves && !is.calls;
	}
	return taken;
}

static bool is_switching(const struct frame *frame, const struct files *files)
{
	const struct elf_info *info = files_elf_info(files, frame->module);
	int fd = files_fd(files, frame->module);
	uint8_t code[SWITCH_CODE_MAX];
	struct fde fde;
	uint64_t vaddr;
	size_t n;

	if (frame->returned || !info || fd < 0 ||
	    (info->machine != EM_X86_64 && info->machine != EM_AARCH64) ||
	    !elf_vaddr_of_offset(info, frame->offset, &vaddr) ||
	    !fde_index_find(fd, info, vaddr, &fde) || !fde.is_silent)
		return false;
	n = vaddr - fde.begin;
	if (!n || n > sizeof(code) || n > frame->offset ||
	    pread(fd, code, n, (off_t)(frame->offset - n)) != (ssize_t)n)
		return false;
	if (info->machine == EM_AARCH64)
		return switches_arm64(code, n);
	return may_take_sp(code, n) && switches(code, n);
}

int switches_check(struct names *names, const struct aggregator *aggregator,
		   const struct files *files)
{
	size_t n = intern_count(aggregator->frames);
	int err = 0;

	for (uint32_t id = 0; !err && id < n; id++)
		if (is_switching(aggregator_frame(aggregator, id), files))
			err = names_set_bad_return(names, id, BAD_RETURN_SWITCH);
	return err;
}
