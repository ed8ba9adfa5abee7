// SPDX-License-Identifier: BSD-2-Clause
#include "sym/switches.h"

#include "base/error.h"
#include "obj/fde_index.h"
#include "obj/x86_insn.h"
#include "shared/inline_switch.h"
#include "unwind/cfi_cursor.h"
#include "unwind/fde_cfa.h"
#include "unwind/switch_arm64.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>

#define SWITCH_CODE_MAX 1024 /* of a function before the leaf's pc */

#define REX_W	  0x48
#define REX_W_OF  0xfb /* but r12 is register 4 as well: */
#define REX_W_REG 0xfc

#define ENTRY_HEIGHT 8 /* bytes: what a call leaves on the stack */
/* Registers that rules follow. */
#define FOLLOWED (1u << X86_FP | 1u << X86_BX)

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
		     (code[i + 1] & 0xc7) == 0xc4))
			return true;
	}
	return false;
}

/* What is known of a function that a leaf is in. */
struct leaf_function {
	const uint8_t *code; /* its first bytes */
	size_t n, leaf;
	struct cfi_cursor said; /* its FDE's instructions */
};

/* Does the call frame information find the caller from the stack pointer there? Who says
 * otherwise knows of two stacks: the caller's is kept where it says. */
static bool goes_by_sp(const struct leaf_function *in, size_t at, uint64_t *ret_offset)
{
	return fde_cfa_is_by_sp(in->said.at, cfi_left(&in->said), at, ret_offset);
}

/* What straight code has done so far, from a function's first instruction on. */
struct straight {
	unsigned int own; /* registers that hold this stack's pointer */
	bool taken;	  /* the stack pointer is another's */
	bool left;	  /* by the last instruction: it went away, or called */
	bool counted;	  /* it is known how far above it the frame ends: */
	uint64_t height;
};

/* The instruction at `at`: its bytes; 0: it is none, or does not end there. */
static size_t follow(struct straight *is, const struct leaf_function *in, size_t at,
		     size_t end)
{
	size_t n = x86_insn_bytes(in->code + at, end - at, &is->left);
	struct x86_effect does;
	uint64_t said;

	if (!n)
		return 0;
	does = x86_effect(in->code + at, n);
	is->taken |= does.sp == X86_SP_TAKEN &&
		     (does.from == X86_NO_REG || !(is->own >> does.from & 1)) &&
		     goes_by_sp(in, at, &said);
	if (does.sets != X86_NO_REG)
		is->own &= ~(1u << does.sets);
	if (does.keeps != X86_NO_REG)
		is->own |= 1u << does.keeps;
	is->left |= does.leaves;
	/* what lies behind is reached from elsewhere, or by a true stack */
	is->taken &= !is->left;
	is->height += (uint64_t)does.pushed;
	if (does.sp != X86_SP_MOVED || is->left)
		is->counted = goes_by_sp(in, at + n, &is->height);
	return n;
}

/* Does the leaf's function return by what its call frame information takes for the return
 * address there, and are the registers that rules follow what they will be then? */
static bool returns_as_said(const struct leaf_function *in)
{
	uint64_t height;
	struct x86_effect is;
	bool calls;

	if (!goes_by_sp(in, in->leaf, &height))
		return false;
	for (size_t at = in->leaf, one; at < in->n; at += one) {
		one = x86_insn_bytes(in->code + at, in->n - at, &calls);
		if (!one || calls)
			return false;
		is = x86_effect(in->code + at, one);
		if (is.leaves)
			return is.returns && height == ENTRY_HEIGHT;
		if (is.sp != X86_SP_MOVED || is.jumps || is.writes & FOLLOWED ||
		    is.way == X86_STORES)
			return false;
		height += (uint64_t)is.pushed;
	}
	return false;
}

/* Does the file say otherwise than the code how far from the stack pointer the frame ends
 * at the leaf, and is that pointer taken from elsewhere behind it? A compiler does not
 * know what assembly within its functions pushes, as a switch does. */
static bool is_astray(const struct leaf_function *in, struct straight *is)
{
	uint64_t said;

	if (!is->counted || !goes_by_sp(in, in->leaf, &said) || said == is->height)
		return false;
	for (size_t at = in->leaf, one; at < in->n && !is->taken; at += one) {
		one = follow(is, in, at, in->n);
		if (!one || is->left)
			return false;
	}
	return is->taken;
}

/* Was the stack pointer taken from elsewhere, in the straight code that leads to the
 * leaf? */
static bool switches(const struct leaf_function *in)
{
	struct straight is = { 0 };
	uint64_t said;

	is.counted = goes_by_sp(in, 0, &is.height);
	for (size_t at = 0, one; at < in->leaf; at += one) {
		one = follow(&is, in, at, in->leaf);
		if (!one)
			return false;
	}
	return is.taken ? goes_by_sp(in, in->leaf, &said) && !returns_as_said(in)
			: is_astray(in, &is);
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

/* A leaf, and the function that it is in: code of it up to the leaf, and behind. */
struct leaf_code {
	struct fde fde;
	uint8_t code[SWITCH_CODE_MAX];
	size_t at, n;
};

/* False: it is too long, or can't be read. */
static bool read_leaf(const struct code_file *in, const struct frame *frame,
		      struct leaf_code *ret)
{
	uint64_t vaddr;

	if (!elf_vaddr_of_offset(in->info, frame->offset, &vaddr) ||
	    !code_file_fde(in, vaddr, &ret->fde))
		return false;
	ret->at = vaddr - ret->fde.begin;
	if (!ret->at || ret->at > sizeof(ret->code) || ret->at > frame->offset)
		return false;
	ret->n = paged_read(&in->file, frame->offset - ret->at, ret->code,
			    sizeof(ret->code));
	if (ret->fde.end && ret->n > ret->fde.end - ret->fde.begin)
		ret->n = ret->fde.end - ret->fde.begin;
	return ret->n >= ret->at;
}

static bool switches_x86(const struct code_file *file, const struct leaf_code *leaf)
{
	struct leaf_function in = { .code = leaf->code, .n = leaf->n, .leaf = leaf->at };
	uint8_t said[CODE_SAID_MAX];

	return may_take_sp(leaf->code, leaf->n) &&
	       code_file_said(file, &leaf->fde, said, &in.said) && switches(&in);
}

static bool switches_arm64(const struct code_file *file, const struct leaf_code *leaf)
{
	uint8_t said[CODE_SAID_MAX];
	struct cfi_cursor in;

	return (leaf->fde.is_silent || (code_file_said(file, &leaf->fde, said, &in) &&
					fde_cfa_stays_by_sp(in.at, cfi_left(&in)))) &&
	       switch_arm64_is_torn(leaf->code, leaf->n, leaf->at, leaf->fde.is_silent);
}

/* Where a thread is in a system call, as seen from where it returns to. */
static bool is_in_syscall(const struct frame *frame, uint16_t machine,
			  const struct leaf_code *leaf)
{
	static const uint8_t x86[] = { 0x0f, 0x05 }, arm64[] = { 0x01, 0, 0, 0xd4 };
	const uint8_t *insn = machine == EM_X86_64 ? x86 : arm64;
	size_t n = machine == EM_X86_64 ? sizeof(x86) : sizeof(arm64);

	return frame->uncallable && leaf->at >= n &&
	       !memcmp(leaf->code + leaf->at - n, insn, n);
}

/* In a system call, or at the leaf. */
bool switches_is_one(const struct frame *frame, const struct code_file *in)
{
	const struct elf_info *info = in->info;
	struct leaf_code leaf;

	if ((frame->returned && !frame->uncallable) ||
	    (info->machine != EM_X86_64 && info->machine != EM_AARCH64))
		return false;
	if (info->type == ET_REL)
		return !frame->returned && info->machine == EM_X86_64 &&
		       is_inline_switch(&in->file, frame);
	if (!read_leaf(in, frame, &leaf) ||
	    (frame->returned && !is_in_syscall(frame, info->machine, &leaf)))
		return false;
	return info->machine == EM_AARCH64 ? switches_arm64(in, &leaf)
					   : switches_x86(in, &leaf);
}
