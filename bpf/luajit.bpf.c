// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * LuaJIT 2.1 on x86-64, whose interpreter has one frame for each time that it is called,
 * which its call frame information describes. What it compiles runs on that frame, below
 * which each trace has room of its own for what it spills, however much: no register
 * says where the frame begins, and no table. Where a trace is entered or left, so it is
 * in the interpreter, too; its call frame information says nothing of that.
 *
 * But the frame holds its lua_State, and that where the frame is which it has at work,
 * since errors are thrown to there, as that has where the one before it is. So the first
 * place on the stack that holds a pointer to what points back to it is the frame.
 * Others' generated code, from which it might be found as well, does not have LuaJIT's
 * dispatch table in the register in which traces have it.
 */
#include "luajit.bpf.h"
#include "table.bpf.h"

#include "shared/luajit.h"

/* Of the frame (lj_frame.h). */
#define LUA_STATE_AT  16 /* CFRAME_OFS_L */
#define LUA_BEFORE_AT 32 /* CFRAME_OFS_PREV: the lua_State's frame before it */
#define LUA_RA_AT     (LUAJIT_FRAME_BYTES - 8)

/* Of a lua_State (lj_obj.h). */
#define LUA_GLOBAL_AT	0x10
#define LUA_CFRAME_AT	0x50
#define LUA_CFRAME_MASK (~3ULL) /* CFRAME_RAWMASK */

#define LUA_DISPATCH 14		   /* register; lj_target_x86.h */
#define LUA_GG_BYTES (64ULL << 10) /* GG_State, which has both, or more */

/* The same in builds without GC64, whose pointers to what is Lua's have 32 bits: the
 * state's has one to byte code above it, where no pointer of 64 bits has so much. Traces
 * may use the register for something else; then nobody finds their frame. */
#define LUA32_STATE_AT	24
#define LUA32_CODE_MIN	0x10000
#define LUA32_GLOBAL_AT 0x08
#define LUA32_CFRAME_AT 0x30

/* What a trace spills (26 were seen), or the registers that are saved where it is left
 * and that. */
#define LUA_WORDS 64

/* Of a lua_State, that are followed from the one at work. */
#define LUA_FRAMES 3

/* Looks are counted, of all walks of a sample: who makes up such a file shall not hold up
 * a CPU by stacks where every word is to be followed. */
static __always_inline bool may_look(struct scratch *s)
{
	if (!s->hops_left)
		return false;
	s->hops_left--;
	return true;
}

/* Does a lua_State know of a frame there, as the one at work or as one before that (a
 * finalizer that a trace's end came to run has its own)? */
static __always_inline bool is_frame_of(struct scratch *s, __u64 at, __u64 cframe)
{
	__u64 frame;

	if (cframe & 7 || cframe < 4096 || cframe & ~FRAME_ADDR_MASK ||
	    !read_user(&frame, sizeof(frame), cframe))
		return false;
	for (int i = 0; i < LUA_FRAMES; i++) {
		frame &= LUA_CFRAME_MASK;
		if (frame == at)
			return true;
		if (at - frame >= SAME_STACK_BYTES || !may_look(s) ||
		    !read_user(&frame, sizeof(frame), frame + LUA_BEFORE_AT))
			break;
	}
	return false;
}

/* Does a frame begin there? Then its lua_State is s->word. */
__noinline int luajit_is_frame(__u32 hook, __u64 at)
{
	struct scratch *s = scratch_of(PART_LUAJIT, hook);

	if (!s || !may_look(s) || !chunk_read(hook, at + LUA_STATE_AT))
		return 0;
	s->word &= knobs.addr_mask;
	if (is_frame_of(s, at, s->word + LUA_CFRAME_AT))
		return 1;
	if (!chunk_read(hook, at + LUA32_STATE_AT) || s->word >> 32 < LUA32_CODE_MIN)
		return 0;
	s->word = (__u32)s->word;
	return is_frame_of(s, at, s->word + LUA32_CFRAME_AT);
}

/* Is s->rule that of the interpreter's frame, and leads to no caller? */
static __always_inline bool is_interpreter_astray(struct scratch *s, __u32 hook)
{
	return luajit_is_rule(&s->rule) && chunk_read(hook, s->sp + LUA_RA_AT) &&
	       !table_is_called(s->word);
}

/* Does the leaf have the dispatch table of the lua_State in s->word? */
static __always_inline bool has_dispatch(struct scratch *s)
{
	__u64 global;
	__u32 global32;

	return (read_user(&global, sizeof(global), s->word + LUA_GLOBAL_AT) &&
		s->regs[LUA_DISPATCH] - global < LUA_GG_BYTES) ||
	       (read_user(&global32, sizeof(global32), s->word + LUA32_GLOBAL_AT) &&
		s->regs[LUA_DISPATCH] - global32 < LUA_GG_BYTES);
}

int luajit_find(__u32 hook, __u32 is_ruled)
{
	struct scratch *s = scratch_of(PART_LUAJIT, hook);
	bool is_trace;
	__u64 at;

	if (!s || !FP_GIVES_SP || s->regs_at)
		return is_ruled;
	is_trace = is_generated(s);
	if (is_trace && is_ruled && !s->is_leaf)
		return 1;
	if (!is_trace && (!is_ruled || !is_interpreter_astray(s, hook)))
		return is_ruled;
	at = s->sp;
	for (int i = 0; i < LUA_WORDS; i++, at += 8)
		if (luajit_is_frame(hook, at))
			break;
	if (at - s->sp >= 8 * LUA_WORDS || (is_trace && s->is_leaf && !has_dispatch(s))) {
		/* somebody called it, wherever that is */
		if (!is_trace)
			s->rule = (struct unwind_rule){ .cfa = UNWIND_CFA_TORN };
		return is_ruled;
	}
	s->rule = (struct unwind_rule){
		.cfa = UNWIND_CFA_SP,
		.cfa_offset = at - s->sp + LUAJIT_FRAME_BYTES,
		.fp = UNWIND_FP_CFA,
		.fp_words = LUAJIT_FP_WORDS,
		.bx_words = LUAJIT_BX_WORDS,
		.ra = UNWIND_RA_CFA,
		.ra_words = -1,
	};
	return 1;
}
