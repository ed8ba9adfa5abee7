// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/function_code.h"

#include "obj/arm64_insn.h"
#include "obj/insn_way.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>

#define PATHS_MAX 128 /* that are still to be followed */

static bool read_way(const struct function_code *in, size_t at, struct insn_way *ret)
{
	return insn_way_read(in->machine, in->code + at, in->n - at, ret);
}

/* Where paths through a function are still to be gone. */
struct paths {
	const struct function_code *in;
	size_t at[PATHS_MAX], n;
	uint8_t seen[FUNCTION_CODE_MAX / 8];
};

static bool is_new(struct paths *paths, size_t at)
{
	uint8_t *byte = &paths->seen[at / 8];
	bool is_seen = *byte >> at % 8 & 1;

	*byte |= (uint8_t)(1u << at % 8);
	return !is_seen;
}

/* A path begins there as well; false: it leads out of the function, or is too many. */
static bool add_path(struct paths *paths, int64_t to)
{
	if (to < 0 || (uint64_t)to >= paths->in->n || paths->n == PATHS_MAX)
		return false;
	paths->at[paths->n++] = (size_t)to;
	return true;
}

/* To where no path goes on, or another one has been. False: it may return there. */
static bool follow(struct paths *paths, size_t at)
{
	struct insn_way is;

	for (; at < paths->in->n && is_new(paths, at); at += is.bytes) {
		if (!read_way(paths->in, at, &is))
			return false;
		if (is.traps)
			return true;
		if (!is.calls && is.is_direct && !add_path(paths, (int64_t)at + is.to))
			return false;
		if (is.leaves)
			return is.is_direct;
	}
	return true;
}

bool function_may_return(const struct function_code *in, size_t from)
{
	struct paths paths = { .in = in };

	if (in->n > FUNCTION_CODE_MAX || !add_path(&paths, (int64_t)from))
		return true;
	while (paths.n)
		if (!follow(&paths, paths.at[--paths.n]))
			return true;
	return false;
}

/* The word on top of the stack is written, or read: a ret behind that may go there. */
static bool uses_top(const uint8_t *code, size_t n)
{
	static const uint8_t top[] = { 0x04, 0x24 }; /* (%rsp), the register aside */

	for (size_t i = 1; i + 1 < n; i++)
		if ((code[i] & 0xc7) == top[0] && code[i + 1] == top[1])
			return true;
	return false;
}

#define MOV_LR_MASK 0xffe0ffffu
#define MOV_LR	    0xaa0003feu /* mov x30, reg */

/* Does the instruction at `before` say where the ret at `at` goes? */
static bool aims_ret(const struct function_code *in, size_t before, size_t at)
{
	uint32_t insn;

	if (in->machine == EM_X86_64)
		return uses_top(in->code + before, at - before) ||
		       x86_effect(in->code + before, at - before).pushed > 0;
	memcpy(&insn, in->code + before, sizeof(insn));
	return (insn & MOV_LR_MASK) == MOV_LR;
}

/* XRay's, behind a ret that a program may have written a jump over since. */
static bool is_sled(const uint8_t *code, size_t n)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };

	return n == 2 + sizeof(nop) && !memcmp(code + 2, nop, sizeof(nop));
}

static bool is_padding(const struct function_code *in, size_t at, size_t n)
{
	uint32_t insn;

	if (in->machine == EM_X86_64)
		return x86_insn_is_padding(in->code + at, n);
	memcpy(&insn, in->code + at, sizeof(insn));
	return arm64_insn_is_padding(insn);
}

/* A call of its own middle (whose address it wants, or a retpoline's), or one of another
 * behind which it does nothing but return: that takes its return address, as
 * __morestack does, and returns to its caller itself. */
static bool is_odd_call(const struct function_code *in, const struct insn_way *is,
			size_t at)
{
	int64_t to = (int64_t)at + is->to;
	struct insn_way next;

	if (is->is_direct && to > 0 && (uint64_t)to < in->n)
		return true;
	return in->machine == EM_X86_64 && read_way(in, at + is->bytes, &next) &&
	       next.returns;
}

static bool leads_out(const struct function_code *in, const struct insn_way *is,
		      size_t at)
{
	int64_t to = (int64_t)at + is->to;

	if (is->is_direct)
		return to < 0 || (uint64_t)to >= in->n;
	return is->leaves && !is->returns && !is->traps;
}

bool function_stays(const struct function_code *in)
{
	size_t before = 0; /* the instruction before */
	bool ends = false; /* what was last goes on to nothing */
	struct insn_way is;

	for (size_t at = 0; at < in->n; before = at, at += is.bytes) {
		if (!read_way(in, at, &is) || is_sled(in->code + at, is.bytes))
			return false;
		if (is.calls ? is_odd_call(in, &is, at) : leads_out(in, &is, at))
			return false;
		if (is.returns && at && aims_ret(in, before, at))
			return false;
		ends = is.leaves || is.calls || (ends && is_padding(in, at, is.bytes));
	}
	return ends;
}

size_t function_calls(const struct function_code *in, struct direct_call *ret, size_t max)
{
	size_t n = 0;
	struct insn_way is;

	for (size_t at = 0; at < in->n && n < max && read_way(in, at, &is);
	     at += is.bytes)
		if (is.calls && is.is_direct)
			ret[n++] = (struct direct_call){ at + is.bytes,
							 (int64_t)at + is.to };
	return n;
}
