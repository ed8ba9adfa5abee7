// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames of the code that HotSpot generates. It uses the frame pointer for anything, and
 * has no call frame information: its own code cache says how large a frame is, and by
 * that HotSpot walks its threads. It is read at the tick, so it is true of code that was
 * compiled a moment ago.
 */
#include "hotspot.bpf.h"
#if defined(__TARGET_ARCH_arm64)
#include "hotspot_arm64.bpf.h"
#else
#include "hotspot_x86.bpf.h"
#endif

#define SEGMENT_HOPS 16	  /* to the beginning of a block: of 250 to 500 KB */
#define FRAME_WORDS  8192 /* a frame has fewer */

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

/* Where the frame at hand returns to by s->rule, into s->word; false: not readable. */
static __always_inline bool find_return(struct scratch *s, __u32 hook)
{
	if (s->rule.ra == UNWIND_RA_LR) {
		s->word = s->lr;
		return true;
	}
	if (!chunk_read(hook, s->cfa - 8))
		return false;
	s->word &= knobs.addr_mask;
	return true;
}

/* Does s->rule lead to a caller: HotSpot's code, into which its interpreter returns
 * without a call, or what lies behind one? */
static __always_inline bool leads_to_caller(struct scratch *s, __u32 hook,
					    const struct hotspot *vm)
{
	if (!find_return(s, hook))
		return false;
	find_heap(s, vm, s->word);
	return s->low < HOTSPOT_HEAPS || is_called(s->word);
}

/* Is this rule that of a leaf in a stub: did a call into its block lead there? Or does
 * the link register, too, say where its frame returns to? */
static __always_inline bool try_stub_rule(struct scratch *s, __u32 hook, __u64 block,
					  struct unwind_rule rule)
{
	bool by_fp = rule.cfa == UNWIND_CFA_FP;
	__u64 target;

	s->rule = rule;
	s->cfa = (by_fp ? s->fp : s->sp) + rule.cfa_offset;
	if ((by_fp && s->fp - s->sp >= CODE_STUB_BYTES) || !find_return(s, hook))
		return false;
	if (!FP_GIVES_SP && by_fp && s->word == s->lr)
		return true;
	if (!find_target(s->word, &target) ||
	    target - block >= s->pc - block + CODE_STUB_BYTES)
		return false;
	if (!by_fp)
		s->cfa += pushed_bytes(target, s->pc);
	return true;
}

/*
 * A leaf in a block without frames of one size: a stub, which has none, or one with a
 * frame pointer. It was called from where a call leads there. Calls may lead there by way
 * of others, so else it may be without a frame. The link register has a way back even
 * when there is a frame.
 */
static __always_inline bool try_stub(struct scratch *s, __u32 hook,
				     const struct hotspot *vm, __u64 block)
{
	const struct unwind_rule first = FP_GIVES_SP ? no_frame() : frame_by_fp();
	const struct unwind_rule second = FP_GIVES_SP ? frame_by_fp() : no_frame();

	if (try_stub_rule(s, hook, block, first) || try_stub_rule(s, hook, block, second))
		return true;
	s->rule = no_frame();
	s->cfa = s->sp + s->rule.cfa_offset;
	s->rule.reg = UNWIND_GUESSED;
	return leads_to_caller(s, hook, vm);
}

/* A stub that called: by frame pointer, which nothing proves. */
static __always_inline bool try_calling_stub(struct scratch *s)
{
	if (FP_GIVES_SP || s->fp - s->sp >= SAME_STACK_BYTES)
		return false;
	s->rule = frame_by_record(FRAME_BYTES);
	s->rule.reg = UNWIND_GUESSED;
	s->cfa = s->fp + FRAME_BYTES;
	return true;
}

/* A leaf elsewhere: what its code says; what leads to no caller is cut. */
static __always_inline bool try_leaf(struct scratch *s, __u32 hook,
				     const struct hotspot *vm, __u64 block, __u32 bytes)
{
	__s64 complete = read_field(vm->frame_complete, block);
	__u64 begin = read_field(vm->code, block);
	__u64 code[LEAF_BEFORE + 2] = { 0 };

	if (vm->code.bytes == 4)
		begin += block + vm->blob_at;
	if (!read_user(code, sizeof(code), s->pc - 8 * LEAF_BEFORE))
		return false;
	s->rule = leaf_frame(code, bytes,
			     complete < 0 || (__s64)(s->pc - begin) >= complete);
	s->cfa = s->sp + s->rule.cfa_offset;
	if (!leads_to_caller(s, hook, vm))
		s->cfa = NO_FRAME;
	return true;
}

/* Is that word of its frame what the register of its locals has, or how many words behind
 * fp they are (from JDK 20 on)? */
static __always_inline bool has_locals(struct scratch *s, __u32 hook, int word)
{
	__u64 locals = chunk_read(hook, s->fp + 8 * (__s64)word) ? s->word : 0;

	return locals &&
	       (locals_register(s) == locals || locals_register(s) == s->fp + 8 * locals);
}

/* Is the frame of a leaf in the interpreter there? */
static __always_inline bool is_interpreting(struct scratch *s, __u32 hook)
{
	return !s->regs_at &&
	       (has_locals(s, hook, LOCALS) || has_locals(s, hook, LOCALS_OF_8));
}

/*
 * The interpreter's: fp is there, and what it keeps of its caller's sp, to whose frame it
 * has added locals of its own. A leaf may be where that frame is not there yet, and fp is
 * an older one's.
 */
static __always_inline bool try_interpreted(struct scratch *s, __u32 hook)
{
	if (s->fp - s->sp >= SAME_STACK_BYTES || !chunk_read(hook, s->fp + 8 * SENDER_SP))
		return false;
	s->cfa = behind_locals(s->word, s->fp);
	if (s->cfa & 7 || s->cfa - s->fp - FRAME_BYTES >= SENDER_BYTES) {
		s->cfa = NO_FRAME;
		return !s->is_leaf;
	}
	s->rule = frame_by_record(s->cfa - s->fp);
	s->method = chunk_read(hook, s->fp + 8 * METHOD) ? s->word : 0;
	if (s->method & (7 | ~FRAME_ADDR_MASK))
		s->method = 0;
	if (s->is_leaf && !is_interpreting(s, hook))
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
	if (words < 0 || words > FRAME_WORDS || (!FP_GIVES_SP && s->sp_is_least))
		return false;
	if (s->is_leaf)
		return words ? try_leaf(s, hook, vm, block, 8 * words)
			     : try_stub(s, hook, vm, block);
	if (!words)
		return try_calling_stub(s);
	s->rule = whole_frame(8 * words + more_bytes(s->pc));
	s->cfa = s->sp + s->rule.cfa_offset;
	return true;
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
