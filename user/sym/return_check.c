// SPDX-License-Identifier: BSD-2-Clause
#include "sym/return_check.h"

#include "base/error.h"
#include "obj/fde_index.h"
#include "obj/v8_builtin.h"
#include "obj/x86_insn.h"
#include "sym/bottoms.h"
#include "sym/call_pairs.h"
#include "sym/code_frames.h"
#include "sym/copied_stacks.h"
#include "sym/switches.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ff /2 with its operand: the length that ModRM and SIB bytes ask for. */
static int indirect_call_bytes(uint8_t modrm, uint8_t sib)
{
	int mod = modrm >> 6, rm = modrm & 7;
	int n = 2 + (mod != 3 && rm == 4);

	if (mod == 1)
		return n + 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		return n + 4;
	return n;
}

static bool x86_call(const uint8_t before[RETURN_BYTES_BEFORE])
{
	if (before[RETURN_BYTES_BEFORE - 5] == 0xe8) /* call rel32 */
		return true;
	for (int n = 2; n <= 7; n++) {
		const uint8_t *at = before + RETURN_BYTES_BEFORE - n;

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 &&
		    indirect_call_bytes(at[1], n > 2 ? at[2] : 0) == n)
			return true;
	}
	return false;
}

static bool arm64_call(const uint8_t before[RETURN_BYTES_BEFORE])
{
	uint32_t insn;

	memcpy(&insn, before + RETURN_BYTES_BEFORE - sizeof(insn), sizeof(insn));
	return (insn & 0xfc000000) == 0x94000000 || /* bl */
	       (insn & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (insn & 0xfefff800) == 0xd63f0800;   /* blraa, blrab and their z forms */
}

/* rt_sigreturn, to which the kernel lets a signal handler return */
static bool returns_from_signal(uint16_t machine, const uint8_t after[RETURN_BYTES_AFTER])
{
	static const uint8_t x86[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t x86_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	static const uint8_t arm64_short[] = { 0x68, 0x11, 0x80, 0x52, 0x01, 0, 0, 0xd4 };

	if (machine == EM_X86_64)
		return !memcmp(after, x86, sizeof(x86)) ||
		       !memcmp(after, x86_short, sizeof(x86_short));
	return !memcmp(after, arm64, sizeof(arm64)) ||
	       !memcmp(after, arm64_short, sizeof(arm64_short));
}

bool return_check_code(uint16_t machine, const uint8_t before[RETURN_BYTES_BEFORE],
		       const uint8_t after[RETURN_BYTES_AFTER])
{
	const uint8_t *padding = before + RETURN_BYTES_BEFORE - V8_BUILTIN_PADDING;

	if (returns_from_signal(machine, after))
		return true;
	if (machine == EM_X86_64 && v8_builtin_is_before(padding) &&
	    v8_builtin_is_returned_to(after, RETURN_BYTES_AFTER))
		return true;
	return machine == EM_X86_64    ? x86_call(before)
	       : machine == EM_AARCH64 ? arm64_call(before)
				       : true;
}

/* Code that the loader maps as it is; of what else is in a file (an engine's own cache
 * of compiled code) nobody knows where it is gone on in. What is no ELF file has calls
 * like any, but who maps it may keep something else where return addresses are. */
static bool has_calls(const struct frame *frame, const struct elf_info *info)
{
	return info->type == ET_EXEC || info->type == ET_DYN ||
	       (info->type == ET_NONE && frame->unproven);
}

/* A nop of 5 bytes or more, over which a program may have written a call since (XRay's,
 * -mnop-mcount's): in its file there is none. */
static bool may_be_patched(uint16_t machine, const uint8_t before[RETURN_BYTES_BEFORE])
{
	static const struct {
		uint8_t bytes, modrm;
	} nops[] = { { 5, 0x44 }, { 7, 0x80 }, { 8, 0x84 } };

	for (size_t i = 0; machine == EM_X86_64 && i < sizeof(nops) / sizeof(*nops);
	     i++) {
		const uint8_t *nop = before + RETURN_BYTES_BEFORE - nops[i].bytes;

		if (nop[0] == 0x0f && nop[1] == 0x1f && nop[2] == nops[i].modrm)
			return true;
	}
	return false;
}

/* Nops before a function's first byte are padding. */
static bool is_within(const struct frame *frame, const struct code_file *in)
{
	struct fde fde;
	uint64_t vaddr;

	return elf_vaddr_of_offset(in->info, frame->offset, &vaddr) &&
	       code_file_fde(in, vaddr, &fde) && fde.begin != vaddr;
}

#define HOOK_BYTES 5 /* call rel32 */

/* Behind what a function begins with: over that a tracer may have written a call to its
 * own code (uftrace's -P, which keeps an endbr64 before it). */
static bool may_be_hooked(const struct frame *frame, const struct code_file *in)
{
	uint8_t first[X86_ENDBR64_BYTES];
	struct fde fde;
	uint64_t at;

	if (in->info->machine != EM_X86_64 || !is_within(frame, in) ||
	    !code_file_function(in, frame, &fde, &at))
		return false;
	return at == HOOK_BYTES || (at == HOOK_BYTES + sizeof(first) &&
				    paged_read(&in->file, frame->offset - at, first,
					       sizeof(first)) == sizeof(first) &&
				    x86_insn_endbr64(first, sizeof(first)));
}

static bool is_to_be_checked(const struct frame *frame)
{
	return frame->returned == 1 && !frame->uncallable;
}

/* What may not be read, since its user's files took too much, is believed only if it was
 * proven. */
static bool is_bad_return(const struct frame *frame, const struct code_file *in,
			  bool *ret_unread)
{
	uint8_t bytes[RETURN_BYTES_BEFORE + RETURN_BYTES_AFTER] = { 0 };

	if (!is_to_be_checked(frame) || !has_calls(frame, in->info) ||
	    frame->offset < RETURN_BYTES_BEFORE)
		return false;
	if (paged_read(&in->file, frame->offset - RETURN_BYTES_BEFORE, bytes,
		       sizeof(bytes)) < RETURN_BYTES_BEFORE) {
		*ret_unread = !file_pages_left_us(in->file.pages);
		return frame->unproven && *ret_unread;
	}
	if (!frame->unproven && may_be_patched(in->info->machine, bytes) &&
	    is_within(frame, in))
		return false;
	return !return_check_code(in->info->machine, bytes,
				  bytes + RETURN_BYTES_BEFORE) &&
	       (frame->unproven || !may_be_hooked(frame, in));
}

/* Of no code that we know of. */
static bool is_nowhere(const struct frame *frame, const struct module_table *modules)
{
	return frame->unproven &&
	       module_get(modules, frame->module)->kind == MODULE_UNMAPPED;
}

/* What is known of a frame. */
struct checked {
	struct code_verdict is;
	bool is_known; /* from an earlier window */
};

struct checking {
	const struct return_sources *sources;
	struct code_frames *frames;
	struct checked *of; /* by frame */
	uint64_t unread;
};

/* A look at one frame's file; *is says what is known already. 0 or -ENOMEM. */
typedef int (*look)(struct checking *c, const struct frame *frame,
		    const struct code_file *in, struct checked *is);

static uint64_t serial_of(const struct checking *c, const struct frame *frame)
{
	return module_serial(c->sources->modules, frame->module);
}

static int look_at_return(struct checking *c, const struct frame *frame,
			  const struct code_file *in, struct checked *is)
{
	bool is_unread = false;

	if (c->sources->verdicts)
		is->is_known = code_verdicts_recall(c->sources->verdicts,
						    serial_of(c, frame), frame, &is->is);
	if (!is->is_known)
		is->is.is_bad_return = is_bad_return(frame, in, &is_unread);
	c->unread += is_unread;
	return 0;
}

/* All else: then it is known, unless there was no time for it. */
static int look_at_code(struct checking *c, const struct frame *frame,
			const struct code_file *in, struct checked *is)
{
	struct code_verdict *verdict = &is->is;

	if (is->is_known)
		return 0;
	verdict->is_switching =
		switches_is_one(frame, in) || copied_stacks_is_copying(frame, in);
	verdict->begin = call_pairs_function(frame, in);
	verdict->is_aimed = call_pairs_target(frame, in, &verdict->target);
	verdict->is_suspect =
		verdict->is_aimed && bottoms_is_suspect(frame, in, verdict->target);
	verdict->begins_copy = copied_stacks_begins(frame, in);
	if (!c->sources->verdicts || code_frames_is_spent(c->frames))
		return 0;
	return code_verdicts_keep(c->sources->verdicts, serial_of(c, frame), frame,
				  verdict);
}

/* Of code that may be written to, the file says nothing. */
static bool is_as_in_file(const struct checking *c, const struct frame *frame)
{
	return !module_get(c->sources->modules, frame->module)->is_writable;
}

static int look_at_all(struct checking *c, look at)
{
	struct code_file in;
	uint32_t id;
	int err = 0;

	for (size_t i = 0; !err && code_frames_next(c->frames, &i, &id);) {
		const struct frame *frame = code_frames_get(c->frames, id);

		if (is_as_in_file(c, frame) && code_frames_file(c->frames, frame, &in))
			err = at(c, frame, &in, &c->of[id]);
	}
	return err;
}

static int mark(const struct checking *c, struct names *names, uint32_t id)
{
	const struct frame *frame = code_frames_get(c->frames, id);
	const struct code_verdict *is = &c->of[id].is;

	if (is->is_switching)
		return names_set_bad_return(names, id, BAD_RETURN_SWITCH);
	if (is->is_bad_return ||
	    (is_to_be_checked(frame) && is_nowhere(frame, c->sources->modules)))
		return names_set_bad_return(names, id,
					    frame->unproven ? BAD_RETURN_MISTAKEN
							    : BAD_RETURN_BOTTOM);
	return is->begins_copy ? names_set_copied_start(names, id) : 0;
}

/* What matters most goes first: a user's files have a time for all looks. The others go
 * together, since they read the same pages. */
static int check_all(struct checking *c, struct names *names, size_t n)
{
	int err = look_at_all(c, look_at_return);

	if (!err)
		err = look_at_all(c, look_at_code);
	for (uint32_t id = 0; !err && id < n; id++)
		err = mark(c, names, id);
	return err;
}

static int check_pairs(const struct checking *c, struct names *names,
		       const struct aggregator *aggregator, size_t n)
{
	AUTO_FREE struct call_pair_end *ends = calloc(n + 1, sizeof(*ends));

	if (!ends)
		return fail(-ENOMEM, "no memory for %zu frames", n);
	for (size_t id = 0; id < n; id++)
		ends[id].is = c->of[id].is;
	return call_pairs_check(names, aggregator, c->frames, ends);
}

int return_check(struct names *names, const struct aggregator *aggregator,
		 const struct return_sources *sources, uint64_t *ret_unread)
{
	size_t n = intern_count(aggregator->frames);
	AUTO(code_frames) frames = NULL;
	AUTO_FREE struct checked *of = calloc(n + 1, sizeof(*of));
	struct checking checking = { .sources = sources, .of = of };
	int err = of ? code_frames_new(&frames, aggregator, sources->files)
		     : fail(-ENOMEM, "no memory for %zu frames", n);

	checking.frames = frames;
	if (!err)
		err = check_all(&checking, names, n);
	if (!err)
		err = check_pairs(&checking, names, aggregator, n);
	if (!err && sources->verdicts)
		code_verdicts_turn(sources->verdicts);
	*ret_unread = checking.unread;
	return err;
}
