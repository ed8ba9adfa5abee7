// SPDX-License-Identifier: BSD-2-Clause
#include "sym/copied_stacks.h"

#include "unwind/fde_cfa.h"
#include "unwind/stack_copier.h"

#include <elf.h>

#define BEGINS_MAX   4096 /* bytes of what begins a stack: theirs have 1.2 KB */
#define CALLS_MAX    64	  /* that are looked at: of it, and of each that it calls */
#define TAKEN_WITHIN 32	  /* bytes, before the call that puts the stack back */

/* All of the function at vaddr, if it has no more than max bytes. */
static bool read_function(const struct code_file *in, const struct fde *fde,
			  uint8_t *bytes, size_t max, struct function_code *ret)
{
	uint64_t n = fde->end - fde->begin;

	*ret = (struct function_code){ in->info->machine, bytes, n };
	return fde->end && n <= max && code_file_read(in, fde->begin, bytes, n) == n;
}

static bool is_known(const struct elf_info *info)
{
	return (info->type == ET_EXEC || info->type == ET_DYN) &&
	       (info->machine == EM_X86_64 || info->machine == EM_AARCH64);
}

static bool may_take(const struct frame *frame, const struct code_file *in)
{
	uint8_t before[TAKEN_WITHIN];

	return frame->offset >= sizeof(before) &&
	       paged_read(&in->file, frame->offset - sizeof(before), before,
			  sizeof(before)) == sizeof(before) &&
	       stack_copier_may_take(in->info->machine, before, sizeof(before));
}

/* Is the caller found from the stack pointer that it takes, or a frame pointer? That of
 * __morestack, which goes on on another stack, stays where it was. */
static bool takes_all(const struct code_file *in, const struct fde *fde,
		      const struct stack_copier *copier)
{
	uint8_t bytes[CODE_SAID_MAX];
	struct cfi_cursor said;
	uint64_t offset;

	return copier->takes_fp ||
	       (code_file_said(in, fde, bytes, &said) &&
		fde_cfa_is_by_sp(said.at, cfi_left(&said), copier->taken, &offset));
}

static bool find_copier(const struct code_file *in, const struct fde *fde,
			struct stack_copier *ret)
{
	uint8_t bytes[STACK_COPIER_MAX];
	struct function_code function;

	return read_function(in, fde, bytes, sizeof(bytes), &function) &&
	       stack_copier_find(&function, ret) && takes_all(in, fde, ret);
}

bool copied_stacks_is_copying(const struct frame *frame, const struct code_file *in)
{
	struct stack_copier copier;
	struct fde fde;
	uint64_t at;

	if (frame->returned > 1 || frame->uncallable || !is_known(in->info) ||
	    !may_take(frame, in) || !code_file_function(in, frame, &fde, &at) ||
	    !find_copier(in, &fde, &copier))
		return false;
	return frame->returned ? at == copier.copied
			       : at >= copier.taken && at < copier.copied;
}

/* Is it a function that copies stacks, or one that calls such a one? */
static bool leads_to_copier(const struct code_file *in, uint64_t vaddr, bool by_another)
{
	struct direct_call calls[CALLS_MAX];
	uint8_t bytes[BEGINS_MAX];
	struct function_code function;
	struct stack_copier copier;
	struct fde fde;
	size_t n;

	if (!code_file_fde(in, vaddr, &fde) || fde.begin != vaddr)
		return false;
	if (find_copier(in, &fde, &copier))
		return true;
	if (!by_another || !read_function(in, &fde, bytes, sizeof(bytes), &function))
		return false;
	n = function_calls(&function, calls, CALLS_MAX);
	for (size_t i = 0; i < n; i++)
		if (leads_to_copier(in, vaddr + (uint64_t)calls[i].to, false))
			return true;
	return false;
}

/* Does it call such a one and return behind that, as who is come back to does? */
static bool returns_behind_copier(const struct code_file *in,
				  const struct function_code *function, uint64_t begin)
{
	struct direct_call calls[CALLS_MAX];
	size_t n = function_calls(function, calls, CALLS_MAX);

	for (size_t i = 0; i < n; i++)
		if (function_may_return(function, calls[i].end) &&
		    leads_to_copier(in, begin + (uint64_t)calls[i].to, true))
			return true;
	return false;
}

bool copied_stacks_begins(const struct frame *frame, const struct code_file *in)
{
	uint8_t bytes[BEGINS_MAX];
	struct function_code function;
	struct fde fde;
	uint64_t at;

	return frame->returned == 1 && !frame->uncallable && is_known(in->info) &&
	       code_file_function(in, frame, &fde, &at) &&
	       read_function(in, &fde, bytes, sizeof(bytes), &function) &&
	       !function_may_return(&function, at) &&
	       returns_behind_copier(in, &function, fde.begin);
}
