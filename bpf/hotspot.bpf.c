// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames of the code that HotSpot generates. It uses the frame pointer for anything, and
 * has no call frame information: its own code cache says how large a frame is, and by
 * that HotSpot walks its threads. It is read at the tick, so it is true of code that was
 * compiled a moment ago.
 *
 * On x86-64 alone: user space tells of no JVM elsewhere.
 */
#include "chunk.bpf.h"
#include "hotspot.bpf.h"

#if defined(__TARGET_ARCH_arm64)
int hotspot_try_code(__u32 hook)
{
	return 0;
}
#else
#include "hotspot_frame.bpf.h"

#define SEGMENT_HOPS 16	  /* to the beginning of a block: of 250 to 500 KB */
#define FRAME_WORDS  8192 /* a frame has fewer */

/* rbp of a frame that the interpreter made, in words; frame_x86.hpp of JDK 9 to 25 */
#define SENDER_SP    (-1)
#define METHOD	     (-3)
#define LOCALS	     (-7) /* or how many words behind rbp they lie (JDK 20) */
#define REG_LOCALS   14
#define SENDER_BYTES (64ULL << 10) /* of the caller's that it added to its own */

#define CODE_STUB_BYTES (64ULL << 10) /* of code, and of its frame */

#define NO_FRAME 1 /* misaligned, so nothing leads on */

/* In which of its heaps this code is, into s->low; HOTSPOT_HEAPS: in none. verifier: what
 * is in a map value it does not know, so there is one way to go on from here. */
static __always_inline void find_heap(struct scratch *s, const struct hotspot *vm,
				      __u64 at)
{
	s->low = HOTSPOT_HEAPS;
	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (at - vm->heaps[i].low < vm->heaps[i].high - vm->heaps[i].low)
			s->low = i;
}

/* Where the block begins that this code is of; 0: in none that is in use. */
static __always_inline __u64 find_block(struct scratch *s, const struct hotspot *vm,
					__u64 at)
{
	const struct hotspot_heap *heap;
	__u64 segment;
	__u8 back = 0;

	find_heap(s, vm, at);
	if (s->low >= HOTSPOT_HEAPS)
		return 0;
	heap = &vm->heaps[s->low & (HOTSPOT_HEAPS - 1)];
	segment = (at - heap->low) >> (heap->segment_shift & 63);
	for (int i = 0; i < SEGMENT_HOPS; i++) {
		if (!s->hops_left)
			return 0;
		s->hops_left--;
		if (!read_user(&back, sizeof(back), heap->segments + segment))
			return 0;
		if (!back)
			return heap->low + (segment << (heap->segment_shift & 63));
		if (back == HOTSPOT_SEGMENT_FREE)
			return 0;
		segment -= back;
	}
	return 0;
}

/* A field's value, signed; 0: it can't be read. */
static __always_inline __s64 read_field(struct hotspot_field field, __u64 block)
{
	__s64 value = 0;

	block += field.at;
	if (field.bytes == 2)
		read_user(&value, 2, block);
	else if (field.bytes == 4)
		read_user(&value, 4, block);
	else
		read_user(&value, 8, block);
	return field.bytes == 2 ? (__s16)value : field.bytes == 4 ? (__s32)value : value;
}

/* Does s->rule lead to a caller: HotSpot's code, into which its interpreter returns
 * without a call, or what lies behind one? */
static __always_inline bool leads_to_caller(struct scratch *s, __u32 hook,
					    const struct hotspot *vm)
{
	__u64 pc;

	if (!chunk_read(hook, s->cfa - 8))
		return false;
	pc = s->word & knobs.addr_mask;
	find_heap(s, vm, pc);
	return s->low < HOTSPOT_HEAPS || is_called(pc);
}

/* Where the call leads that ends at that address, if it says so: call, or movabs $…,%r10;
 * call *%r10. */
static __always_inline bool find_target(__u64 pc, __u64 *ret)
{
	__u64 before[2];

	if (!read_user(before, sizeof(before), pc - sizeof(before)))
		return false;
	if (call_target(before[1], pc, ret))
		return true;
	*ret = before[0] >> 40 | before[1] << 24;
	return ENDS(before[1], 3, 0xd2ff41) && HAS(before[0], 3, 2, 0xba49);
}

/* Does a call into the block that the leaf is in lie before that return address? */
static __always_inline bool is_called_from(struct scratch *s, __u32 hook, __u64 block,
					   __u64 ra_at)
{
	__u64 target;

	return chunk_read(hook, ra_at) &&
	       find_target(s->word & knobs.addr_mask, &target) &&
	       target - block < s->pc - block + CODE_STUB_BYTES;
}

/*
 * A leaf in a block without frames of one size: a stub, which has none, or one with a
 * frame pointer. It was called from where a call leads there. Calls may lead there by way
 * of others, so else it may be without a frame.
 */
static __always_inline bool try_stub(struct scratch *s, __u32 hook,
				     const struct hotspot *vm, __u64 block)
{
	s->cfa = s->sp + 8;
	s->rule = frame_without_fp(8);
	if (is_called_from(s, hook, block, s->sp))
		return true;
	s->cfa = s->fp + FRAME_BYTES;
	s->rule = frame_by_fp();
	if (s->fp - s->sp < CODE_STUB_BYTES && is_called_from(s, hook, block, s->fp + 8))
		return true;
	s->cfa = s->sp + 8;
	s->rule = frame_without_fp(8);
	s->rule.reg = UNWIND_GUESSED;
	return leads_to_caller(s, hook, vm);
}

/* A leaf elsewhere: what its code says; what leads to no caller is cut. */
static __always_inline bool try_leaf(struct scratch *s, __u32 hook,
				     const struct hotspot *vm, __u64 block, __u32 bytes)
{
	__s64 complete = read_field(vm->frame_complete, block);
	__u64 begin = read_field(vm->code, block);
	__u64 code[LEAF_WORDS] = { 0 };

	if (vm->code.bytes == 4)
		begin += block + vm->blob_at;
	if (!read_user(code, sizeof(code), s->pc - 8))
		return false;
	s->rule = leaf_frame(code, bytes,
			     complete < 0 || (__s64)(s->pc - begin) >= complete);
	s->cfa = s->sp + s->rule.cfa_offset;
	if (!leads_to_caller(s, hook, vm))
		s->cfa = NO_FRAME;
	return true;
}

/*
 * The interpreter's: fp is there, and what it keeps of its caller's sp, to whose frame it
 * has added locals of its own. A leaf may be where that frame is not there yet, and fp is
 * an older one's: it is there if a register has its locals.
 */
static __always_inline bool try_interpreted(struct scratch *s, __u32 hook)
{
	__u64 locals;

	if (s->fp - s->sp >= SAME_STACK_BYTES || !chunk_read(hook, s->fp + 8 * SENDER_SP))
		return false;
	s->cfa = s->word;
	if (s->cfa & 7 || s->cfa - s->fp - FRAME_BYTES >= SENDER_BYTES) {
		s->cfa = NO_FRAME;
		return !s->is_leaf;
	}
	s->rule = (struct unwind_rule){ .cfa = UNWIND_CFA_SP,
					.fp = UNWIND_FP_DEREF,
					.ra_words = 1 - (__s64)(s->cfa - s->fp) / 8 };
	s->method = chunk_read(hook, s->fp + 8 * METHOD) ? s->word : 0;
	if (s->method & (7 | ~FRAME_ADDR_MASK))
		s->method = 0;
	if (!s->is_leaf)
		return true;
	locals = chunk_read(hook, s->fp + 8 * LOCALS) ? s->word : 0;
	if (s->regs_at ||
	    (s->regs[REG_LOCALS] != locals && s->regs[REG_LOCALS] != s->fp + 8 * locals))
		s->rule.reg = UNWIND_GUESSED;
	return true;
}

static __always_inline bool try_frame(struct scratch *s, __u32 hook,
				      const struct hotspot *vm)
{
	__u64 at = s->pc - !s->is_leaf, block;
	__s64 words;

	if (at - vm->interpreter < vm->interpreter_bytes)
		return try_interpreted(s, hook);
	if (!s->is_leaf && s->pc == vm->call_stub_return) {
		s->rule = frame_by_fp();
		s->cfa = s->fp + FRAME_BYTES;
		return true;
	}
	block = find_block(s, vm, at);
	words = block ? read_field(vm->frame_words, block) : -1;
	if (words < 0 || words > FRAME_WORDS)
		return false;
	if (s->is_leaf)
		return words ? try_leaf(s, hook, vm, block, 8 * words)
			     : try_stub(s, hook, vm, block);
	s->rule = whole_frame(8 * words);
	s->cfa = s->sp + 8 * words;
	return words > 0;
}

int hotspot_try_code(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const struct hotspot *vm;

	if (!s || !s->has_hotspot)
		return 0;
	vm = hotspot_of(s->rec.tgid);
	if (vm && try_frame(s, hook, vm)) {
		s->step_kind = STEP_KIND_TABLE;
		return 1;
	}
	s->cfa = s->fp + FRAME_BYTES;
	return 0;
}
#endif
