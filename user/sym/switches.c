// SPDX-License-Identifier: BSD-2-Clause
#include "sym/switches.h"

#include "base/error.h"
#include "obj/fde_index.h"
#include "obj/x86_insn.h"
#include "shared/inline_switch.h"
#include "unwind/arm64_stack.h"
#include "unwind/cfi_cursor.h"
#include "unwind/fde_cfa.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>

#define SWITCH_CODE_MAX 1024 /* of a function before the leaf's pc */
#define SAID_MAX	512  /* of its FDE */

#define REX_W	  0x48
#define REX_W_OF  0xfb /* but r12 is register 4 as well: */
#define REX_W_REG 0xfc
#define REX_R12	  0x41

/* What goes into the stack pointer is an operand's register 4: most code has none. */
static bool may_take_sp(const uint8_t *code, size_t n)
{
	uint8_t rex = 0;

	for (size_t i = 0; i + 1 < n; rex = code[i++]) {
		bool to_reg = code[i] == 0x8b || code[i] == 0x8d;

		if ((to_reg && (rex & REX_W_REG) == REX_W &&
		     (code[i + 1] & 0x38) == 0x20) ||
		    (code[i] == 0x87 && (rex & 0xf8) == REX_W) ||
		    (code[i] == 0x89 && (rex & REX_W_OF) == REX_W &&
		     (code[i + 1] & 0xc7) == 0xc4) ||
		    (code[i] == 0x5c && rex != REX_R12))
			return true;
	}
	return false;
}

/* What is known of a function that a leaf is in. */
struct leaf_function {
	const uint8_t *code; /* its first bytes, up to the leaf's pc */
	size_t n;
	struct cfi_cursor said; /* its FDE's instructions */
};

/* Does the call frame information find the caller from the stack pointer there? Who says
 * otherwise knows of two stacks: the caller's is kept where it says. */
static bool goes_by_sp(const struct leaf_function *in, size_t at)
{
	return fde_cfa_is_by_sp(in->said.at, cfi_left(&in->said), at);
}

/* From a function's first instruction up to one that is not in these bytes any more:
 * was the stack pointer taken from elsewhere, in the straight code that leads there? */
static bool switches(const struct leaf_function *in)
{
	const uint8_t *code = in->code;
	size_t n = in->n;
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
			 (is.from == X86_NO_REG || !(own >> is.from & 1)) &&
			 goes_by_sp(in, at);
		if (is.sets != X86_NO_REG)
			own &= ~(1u << is.sets);
		if (is.keeps != X86_NO_REG)
			own |= 1u << is.keeps;
		/* what lies behind is reached from elsewhere, or by a true stack */
		taken &= !is.leaves && !calls;
	}
	return taken && goes_by_sp(in, n);
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

/* Code that was compiled to an object and is used as it is, as wasmtime's. */
static bool is_inline_switch(const struct paged_file *file, const struct frame *frame)
{
	unsigned long long words[INLINE_SWITCH_WORDS];

	return frame->offset >= INLINE_SWITCH_BEFORE &&
	       paged_read(file, frame->offset - INLINE_SWITCH_BEFORE, words,
			  sizeof(words)) == sizeof(words) &&
	       inline_switch_is_torn(words);
}

/* Behind its augmentation; false: it can't be read, or is longer. */
static bool read_said(const struct paged_file *file, const struct fde *fde,
		      uint8_t bytes[SAID_MAX], struct cfi_cursor *ret)
{
	size_t n = fde->said_bytes;

	if (n > SAID_MAX || paged_read(file, fde->said_offset, bytes, n) != n)
		return false;
	*ret = (struct cfi_cursor){ .at = bytes, .end = bytes + n };
	cfi_skip(ret, cfi_uleb(ret));
	return !ret->bad;
}

static bool switches_x86(const struct paged_file *file, const struct fde *fde,
			 const uint8_t *code, size_t n)
{
	struct leaf_function in = { .code = code, .n = n };
	uint8_t said[SAID_MAX];

	return may_take_sp(code, n) && read_said(file, fde, said, &in.said) &&
	       switches(&in);
}

static bool is_switching(const struct frame *frame, const struct code_file *in)
{
	const struct elf_info *info = in->info;
	uint8_t code[SWITCH_CODE_MAX];
	struct fde fde;
	uint64_t vaddr;
	size_t n;

	if (info->machine != EM_X86_64 && info->machine != EM_AARCH64)
		return false;
	if (info->type == ET_REL)
		return info->machine == EM_X86_64 && is_inline_switch(&in->file, frame);
	if (!elf_vaddr_of_offset(info, frame->offset, &vaddr) ||
	    !fde_index_find(&in->file, info, vaddr, &fde) ||
	    (info->machine == EM_AARCH64 && !fde.is_silent))
		return false;
	n = vaddr - fde.begin;
	if (!n || n > sizeof(code) || n > frame->offset ||
	    paged_read(&in->file, frame->offset - n, code, n) != n)
		return false;
	if (info->machine == EM_AARCH64)
		return switches_arm64(code, n);
	return switches_x86(&in->file, &fde, code, n);
}

int switches_check(struct names *names, struct code_frames *frames)
{
	struct code_file in;
	uint32_t id;
	int err = 0;

	for (size_t i = 0; !err && code_frames_next(frames, &i, &id);) {
		const struct frame *frame = code_frames_get(frames, id);

		if (!frame->returned && code_frames_file(frames, frame, &in) &&
		    is_switching(frame, &in))
			err = names_set_bad_return(names, id, BAD_RETURN_SWITCH);
	}
	return err;
}
