// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames of the code that HotSpot generates. It uses the frame pointer for anything, and
 * has no call frame information: its own code cache says how large a frame is, and by
 * that HotSpot walks its threads. It is read at the tick, so it is true of code that was
 * compiled a moment ago.
 */
#include "hotspot.bpf.h"
#include "hotspot_code.bpf.h"

#define FRAME_WORDS    8192 /* a frame has fewer */
#define NO_FRAME_WORDS (-1) /* a stub that has none, or 0 */

#define CODE_STUB_BYTES	  (64ULL << 10) /* of a stub's frame */
#define STUB_PUSHED_WORDS 28		/* SHA-512's, and what it aligns */
#define PUSHED_WORDS	  4
#define PUSHED_BELOW	  128
#define ENTRY_COOKIE	  (~0ULL)

#define NO_FRAME 1 /* misaligned, so nothing leads on */

static __always_inline void take_rule(struct scratch *s, struct unwind_rule rule)
{
	s->rule = rule;
	s->cfa = (rule.cfa == UNWIND_CFA_FP ? s->fp : s->sp) + (__s64)rule.cfa_offset;
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

/* What calls say of the frame that s->rule says. */
static __always_inline int ask_rule(struct scratch *s, __u32 hook)
{
	return find_return(s, hook) ? hotspot_ask_call(hook, s->word) : CALLED_ELSEWHERE;
}

/* Of a frame that is so large. */
static __always_inline int ask_frame(struct scratch *s, __u32 hook, __u64 bytes)
{
	take_rule(s, whole_frame(bytes));
	return ask_rule(s, hook);
}

/* String.compareTo() keeps the difference of two lengths on the stack, a number of 32
 * bits, while it compares. Is that all that keeps the frame from ending where it says? No
 * call ends before what lies there, and one that may have led here before what lies a
 * word higher. */
static __always_inline bool keeps_number(struct scratch *s, __u32 hook)
{
	if (!chunk_read(hook, s->sp) || s->word >> 32 || !find_return(s, hook) ||
	    is_called(s->word) || ask_frame(s, hook, s->java_bytes + 8) != CALLED_PERHAPS)
		return false;
	s->rule.reg = UNWIND_GUESSED;
	return true;
}

static __always_inline bool is_at_x87(const struct scratch *s)
{
	__u64 code[2];

	return read_user(code, sizeof(code), s->pc - 8) && is_x87(code[1], code[0]);
}

/* The frame that is the only one a call may have led to; CALLED_ELSEWHERE: there is none,
 * or there are several. */
static __always_inline __u32 seek_only(struct scratch *s, __u32 hook)
{
	s->n_possible = s->last_possible = 0;
	for (__u32 pushed = 0; pushed <= 8 * PUSHED_WORDS; pushed += 8) {
		if (ask_frame(s, hook, s->java_bytes + pushed) == CALLED_ELSEWHERE)
			continue;
		s->last_possible = pushed;
		s->n_possible++;
		REREAD();
	}
	take_rule(s, whole_frame(s->java_bytes + s->last_possible));
	s->rule.reg = UNWIND_GUESSED;
	return s->n_possible == 1 ? CALLED_PERHAPS : CALLED_ELSEWHERE;
}

/* A leaf's sp may be lower than its frame says: some code pushes registers, or where sp
 * was. Then a call says where; or one that may have led there, if the frame pointer says
 * so, too, or no other may. */
static __always_inline __u32 seek_frame(struct scratch *s, __u32 hook, __u32 called)
{
	__u32 bytes = s->java_bytes;
	__u64 low;

	low = chunk_read(hook, s->sp) ? s->word - s->sp : 0;
	for (__u64 i = 0; i <= PUSHED_WORDS; i++) {
		__u64 pushed = i ? 8 * i : low;
		__u32 found;

		if (!pushed || pushed & 7 || pushed > PUSHED_BELOW)
			continue;
		found = ask_frame(s, hook, bytes + pushed);
		if (found == CALLED_THERE || (!i && found > called) ||
		    (found == CALLED_PERHAPS && s->cfa == s->fp + FRAME_BYTES))
			return found;
	}
	if (is_at_x87(s))
		return seek_only(s, hook);
	take_rule(s, whole_frame(bytes));
	return called == CALLED_ELSEWHERE && keeps_number(s, hook) ? CALLED_PERHAPS
								   : called;
}

#define RELOADS_MAX  16
#define RELOAD_BYTES 136 /* of code from where a frame goes on, in the chunk */
#define DROPS	     (1 << 16)

/* verifier: functions, so that what is found is one number to who calls */

/* How long the instruction there is that loads again what was saved; or DROPS, and how
 * much is dropped; 0: it does neither. */
__attribute__((no_sanitize("alignment"))) __noinline int
hotspot_look_at_reload(__u32 hook, __u32 at)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	__u64 code;

	if (!s)
		return 0;
	code = *(const __u64 *)(s->chunk + 8 + (at & 127));
	return dropped_bytes(code) ? DROPS | dropped_bytes(code) : reload_bytes(code);
}

__noinline int hotspot_look_at_pops(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	const __u64 *code;

	if (!s)
		return 0;
	code = (const __u64 *)s->chunk;
	return popped_bytes(code[1], code[0]);
}

/*
 * What a frame that called has below the bytes that HotSpot says. Arguments are popped
 * again; barriers of collectors save registers, and where they are loaded again they jump
 * back.
 */
static __always_inline __u32 more_bytes(struct scratch *s, __u32 hook)
{
	__u32 at = 0, bytes;

	s->chunk_bytes = 0;
	if (!read_user(s->chunk, 8 + RELOAD_BYTES, s->pc - 8))
		return 0;
	bytes = hotspot_look_at_pops(hook);
	if (bytes)
		return bytes;
	for (int i = 0; i < RELOADS_MAX && at < RELOAD_BYTES - 8; i++) {
		bytes = hotspot_look_at_reload(hook, at);
		if (!bytes)
			return 0;
		if (bytes & DROPS)
			return bytes & (DROPS - 1);
		at += bytes;
	}
	return 0;
}

/* A frame that called what is no Java: is it as large as it says? What it saved below,
 * the code says that it goes on at. */
static __always_inline __u32 check_size(struct scratch *s, __u32 hook)
{
	__u32 bytes = s->java_bytes, more, called, with_more;

	called = ask_frame(s, hook, bytes);
	if (called == CALLED_THERE)
		return called;
	more = more_bytes(s, hook);
	with_more = more ? ask_frame(s, hook, bytes + more) : CALLED_ELSEWHERE;
	if (with_more != CALLED_ELSEWHERE)
		return with_more;
	take_rule(s, whole_frame(bytes));
	return called;
}

/* Where the stub begins that a call before that address leads to, if it is the one that
 * the frame at hand is in. 0: it is not. */
static __always_inline __u64 stub_called(const struct scratch *s, __u64 ra)
{
	__u64 target;

	if (!find_target(ra, &target) || target - s->java_block > s->pc - s->java_block)
		return 0;
	return target;
}

/* verifier: a function, for a loop */
__noinline int hotspot_is_stub_called(__u32 hook, __u64 ra)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);

	return s && stub_called(s, ra) != 0;
}

/* The same for a rule of a leaf in a stub. The link register, too, may say where that
 * returns to. */
static __always_inline __u64 try_stub_rule(struct scratch *s, __u32 hook,
					   struct unwind_rule rule)
{
	bool by_fp = rule.cfa == UNWIND_CFA_FP;
	__u64 target;

	take_rule(s, rule);
	if ((by_fp && s->fp - s->sp >= CODE_STUB_BYTES) || !find_return(s, hook))
		return 0;
	if (!FP_GIVES_SP && by_fp && s->word == s->lr)
		return s->pc;
	target = stub_called(s, s->word);
	if (target && !by_fp)
		s->cfa += pushed_bytes(target, s->pc);
	return target;
}

/* A leaf in a stub that has pushed some words, or uses its frame pointer for something
 * else: a call says where its return address is. 0: none does. */
__noinline int hotspot_seek_return(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);

	if (!s)
		return 0;
	for (__u64 i = 1; i <= STUB_PUSHED_WORDS; i++) {
		if (!chunk_read(hook, s->sp + 8 * i))
			return 0;
		if (!hotspot_is_stub_called(hook, s->word & knobs.addr_mask))
			continue;
		take_rule(s, pushed_frame(8 * i + 8));
		return 1;
	}
	return 0;
}

/*
 * A leaf in a block without frames of one size: a stub, which has none, or one with a
 * frame pointer. It was called from where a call leads there; if both say so, an older
 * call led to another stub of the block. Calls may lead there by way of others, so else
 * it may be without a frame. The link register has a way back even when there is a frame.
 */
static __always_inline bool try_stub(struct scratch *s, __u32 hook)
{
	__u64 by_fp = try_stub_rule(s, hook, frame_by_fp());
	__u64 bare;

	if (by_fp == s->pc)
		return true;
	bare = try_stub_rule(s, hook, no_frame());
	if (bare > by_fp)
		return true;
	if (by_fp) {
		take_rule(s, frame_by_fp());
		return true;
	}
	if (hotspot_seek_return(hook))
		return true;
	take_rule(s, no_frame());
	s->rule.reg = UNWIND_GUESSED;
	return ask_rule(s, hook) == CALLED_PERHAPS;
}

/* Is the frame at hand to return to a return barrier, since some of a virtual thread's
 * frames are on the heap? */
static __always_inline bool is_at_barrier(const struct scratch *s)
{
	__u64 code;

	return read_user(&code, sizeof(code), s->pc) && is_return_barrier(code);
}

#define ENTRY_BYTES_LEAST 0x30 /* of a continuation's entry; JDK 25's has 0x40 */
#define ENTRY_BYTES_MOST  0x50

/*
 * Who goes on when these are gone: right above the last frame that is not on the heap
 * lies the entry of the continuation, in the frame of who entered it. It has no code's
 * address before that which this one returns to.
 */
__noinline int hotspot_seek_carrier(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);

	if (!s)
		return 0;
	for (__u32 bytes = ENTRY_BYTES_LEAST; bytes <= ENTRY_BYTES_MOST; bytes += 8) {
		take_rule(s, whole_frame(bytes + FRAME_BYTES));
		if (find_return(s, hook) && hotspot_find_block(hook, s->word))
			return 1;
	}
	s->cfa = NO_FRAME;
	return 1;
}

/* A stub that called, which has a frame pointer. What looks after code that is entered
 * has a word between its record and its return address. */
static __always_inline bool try_calling_stub(struct scratch *s, __u32 hook)
{
	if (is_at_barrier(s))
		return hotspot_seek_carrier(hook);
	if (s->fp - s->sp >= SAME_STACK_BYTES)
		return false;
	s->rule = frame_by_record(FRAME_BYTES);
	s->cfa = s->fp + FRAME_BYTES;
	if (!chunk_read(hook, s->fp + 8))
		return false;
	if (stub_called(s, s->word & knobs.addr_mask))
		return true;
	if (FP_GIVES_SP && s->word == ENTRY_COOKIE && chunk_read(hook, s->fp + 16) &&
	    stub_called(s, s->word & knobs.addr_mask)) {
		s->rule.ra_words = -1;
		s->cfa += 8;
		return true;
	}
	s->rule.reg = UNWIND_GUESSED;
	return !FP_GIVES_SP;
}

/* A leaf elsewhere: what its code says. */
static __always_inline bool try_leaf(struct scratch *s, const struct hotspot *vm)
{
	__s64 complete = read_field(vm->frame_complete, s->java_block);
	__u64 begin = read_field(vm->code, s->java_block);
	__u64 code[LEAF_BEFORE + 2] = { 0 };

	if (vm->code.bytes == 4)
		begin += s->java_block + vm->blob_at;
	if (!read_user(code, sizeof(code), s->pc - 8 * LEAF_BEFORE))
		return false;
	take_rule(s, leaf_frame(code, s->java_bytes,
				complete < 0 || (__s64)(s->pc - begin) >= complete));
	return true;
}

/* Does what s->rule says lead to a caller? Else s->rule is another, or leads to none. */
int hotspot_check_frame(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	__u32 called;

	if (!s)
		return 0;
	if (!s->is_leaf) {
		called = check_size(s, hook);
	} else {
		called = ask_rule(s, hook);
		if (FP_GIVES_SP && called != CALLED_THERE && s->rule.fp &&
		    s->rule.cfa_offset == s->java_bytes)
			called = seek_frame(s, hook, called);
	}
	if (called == CALLED_ELSEWHERE)
		s->cfa = NO_FRAME;
	s->java_end = s->cfa;
	return 0;
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

/* 0: there is no telling, or its code is not HotSpot's; 1: found; HOTSPOT_ASK: it is to
 * be checked. */
static __always_inline int try_frame(struct scratch *s, __u32 hook,
				     const struct hotspot *vm)
{
	__u64 at = s->pc - !s->is_leaf;
	__s64 words;
	int found;

	if (at - vm->interpreter < vm->interpreter_bytes) {
		found = try_interpreted(s, hook);
		s->java_end = s->cfa;
		return found;
	}
	if (!s->is_leaf && s->pc == vm->call_stub_return) {
		take_rule(s, frame_by_fp());
		return 1;
	}
	if (!hotspot_find_block(hook, at))
		return 0;
	s->java_block = s->found_block;
	words = read_field(vm->frame_words, s->java_block);
	if (words < NO_FRAME_WORDS || words > FRAME_WORDS ||
	    (!FP_GIVES_SP && s->sp_is_least))
		return 0;
	s->java_bytes = words > 0 ? 8 * words : 0;
	if (words <= 0)
		return s->is_leaf ? try_stub(s, hook) : try_calling_stub(s, hook);
	if (s->is_leaf)
		return try_leaf(s, vm) ? HOTSPOT_ASK : 0;
	/* who called Java has that much; who called what is none may have more */
	take_rule(s, whole_frame(s->java_bytes));
	if (s->sp != s->java_end)
		return HOTSPOT_ASK;
	s->java_end = s->cfa;
	return 1;
}

int hotspot_try_code(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOTSPOT, hook);
	const struct hotspot *vm;
	int found;

	if (!s || !s->has_hotspot)
		return 0;
	vm = hotspot_of(s->rec.tgid);
	found = vm ? try_frame(s, hook, vm) : 0;
	if (found)
		s->step_kind = STEP_KIND_TABLE;
	else
		s->cfa = s->fp + FRAME_BYTES;
	return found;
}
