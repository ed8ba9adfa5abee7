/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several roots: one thread's dispatchers inside each other, threads that wait
 * for others, and dispatchers that frame pointers alone do not lead to.
 */
#include "cases.h"
#include "path.h"

#define SET_UP                                                                           \
	{                                                                                \
		"main;sys_call"                                                          \
	}

/* The thread, down to level n. */
#define T1   "main;drive_1;loop_1;op_1"
#define T2   T1 ";drive_2;loop_2;op_2"
#define T3   T2 ";drive_3;loop_3;op_3"
#define T4   T3 ";drive_4;loop_4;op_4"
#define T5   T4 ";drive_5;loop_5;op_5"
#define C(n) "hop_0" #n "0;hop_0" #n "1"
/* each chain on its own */
#define D(n, next)                                                                       \
	{ "^" C(n) ";--;loop_" #n },                                                     \
	{                                                                                \
		"^" C(n) ";--;op_" #n ";drive_" #next ";loop_" #next                     \
	}
#define D_LAST(n)                                                                        \
	{ "^" C(n) ";--;loop_" #n },                                                     \
	{                                                                                \
		"^" C(n) ";--;op_" #n ";burn"                                            \
	}
/* each chain on the stack of the thread that waits for it; "--" where it was left */
#define W1 "--*0-1;main;drive_1;" C(1)
#define W2 W1 ";--*0-1;op_1;drive_2;" C(2)
#define W3 W2 ";--*0-1;op_2;drive_3;" C(3)
#define W4 W3 ";--*0-1;op_3;drive_4;" C(4)
#define W5 W4 ";--*0-1;op_4;drive_5;" C(5)
#define W(n, next)                                                                       \
	{ W##n ";--;loop_" #n },                                                         \
	{                                                                                \
		W##n ";--;op_" #n ";drive_" #next ";loop_" #next                         \
	}
#define W_LAST(n)                                                                        \
	{ W##n ";--;loop_" #n },                                                         \
	{                                                                                \
		W##n ";--;op_" #n ";burn"                                                \
	}
/* before the outermost root is there */
#define BARE { "main;drive_1;loop_1" }, SET_UP

#define ROOTS(mode, levels, thread_path, in_core, ...)                                   \
	{                                                                                \
		.name = "roots-" mode "-" levels, .program = "roots",                    \
		.args = mode " %m " levels, .kinds = BOTH_COMPILERS, .core = in_core,    \
		.breaks = "no-key|no-interval",                                          \
		.thread = { { thread_path ";burn" }, SET_UP },                           \
		.async = { __VA_ARGS__, BARE },                                          \
	}

/* So many levels of the program levels, and the thread that lies below the rest. */
#define X2(x)	 x x
#define X4(x)	 X2(x) X2(x)
#define X8(x)	 X4(x) X4(x)
#define X16(x)	 X8(x) X8(x)
#define X32(x)	 X16(x) X16(x)
#define X39(x)	 X32(x) X4(x) X2(x) x
#define X40(x)	 X32(x) X8(x)
#define X64(x)	 X32(x) X32(x)
#define X70(x)	 X64(x) X4(x) X2(x)
#define STACKED	 ";drive;loop;op"
#define DRIVEN	 ";--*0-1;op;drive;hop_000;hop_001"
#define DRIVEN_1 "--*0-1;main;drive;hop_000;hop_001"
/* of 70 the outermost six are seen as the thread has them, and a gap says so */
#define BEYOND "main" X4(STACKED) STACKED ";drive;loop;" GAP_FRAME
/* who holds the root is the dispatcher, not who registered it and returned */
#define HELD_0 "hop_000;hop_001;--;"
#define HELD_1 "hop_010;hop_011;--;"
#define HOLDS  "hold_itself|hold_called"
/* what is seldom done of it, as what makes a thread's holder, is a part of its own */
#define REGISTERS "register_root|register_root.cold"
#define HELD(mode, thread_path, ...)                                                     \
	{                                                                                \
		.name = "held-" mode, .program = "held", .args = mode " %m",             \
		.kinds = BOTH_COMPILERS, .breaks = "no-key",                             \
		.thread = { { thread_path },                                             \
			    { "main;hold_outer|" HOLDS ";" REGISTERS },                  \
			    { "main;hold_outer;hold_inner;" REGISTERS },                 \
			    SET_UP },                                                    \
		.async = { __VA_ARGS__, SET_UP },                                        \
	}

#define POOLED "request;ask;hop_001;hop_002;--;job;burn"
#define POOL(before)                                                                     \
	{ before POOLED },                                                               \
	{                                                                                \
		before "request;ask;hop_001;hop_002;--;pool_loop"                        \
	}
#define POOL_THREAD                                                                      \
	{ "worker;pool_loop;job;burn" },                                                 \
	{                                                                                \
		"worker;pool_loop;turn_wait|turn_give;sys_call"                          \
	}
#define POOL_IDLE                                                                        \
	{                                                                                \
		"worker;pool_loop;turn_wait|turn_give;sys_call"                          \
	}
#define ASKS	   "request;ask;turn_wait|turn_give;sys_call"
#define UNDER	   "^hop_010;hop_011;--;"
#define MIDDLE	   "--*0-1;main;ask_middle;hop_021;hop_022;--;"
#define NESTED(op) UNDER op "ask_itself;hop_021;hop_022;--;"
/* where who called whom is not known, the dispatcher shows as what called the wait */
#define LOST(op) NESTED("--*0-1;nested_loop;--*0-1;" op)

/* main's stack waits for itself, and then for the worker. When it ends, its tables are
 * gone before its stack is. */
#define WAITS_TWICE(mode, stacked, op)                                                   \
	{                                                                                \
		.name = "wait-" mode, .program = "wait", .args = mode " %m",             \
		.kinds = BOTH_COMPILERS, .core = true, .breaks = "no-key",               \
		.thread = { POOL_THREAD,                                                 \
			    { "main;nested_loop;" stacked                                \
			      "ask_itself;middle_loop;middle_op;" ASKS },                \
			    SET_UP },                                                    \
		.async = { POOL(NESTED(op) "middle_op;--*0-1;"),                         \
			   POOL_IDLE,                                                    \
			   { NESTED(op) "middle_op;" ASKS },                             \
			   { NESTED(op) "middle_loop" },                                 \
			   { UNDER "nested_loop" },                                      \
			   { UNDER op "ask_itself;middle_loop" },                        \
			   { "main;nested_loop" },                                       \
			   SET_UP,                                                       \
			   { LOST(op) "middle_op;" ASKS, CLASS_GAP },                    \
			   { LOST(op) "middle_op;--*0-1;" POOLED, CLASS_GAP } },         \
		.bounds = { { CLASS_GAP, .03 } },                                        \
	}

static const struct truth_case cases[] = {
	ROOTS("detached", "2", T2, false, D(1, 2), D_LAST(2)),
	ROOTS("detached", "3", T3, false, D(1, 2), D(2, 3), D_LAST(3)),
	ROOTS("detached", "5", T5, false, D(1, 2), D(2, 3), D(3, 4), D(4, 5), D_LAST(5)),
	ROOTS("driven", "2", T2, false, W(1, 2), W_LAST(2)),
	ROOTS("driven", "3", T3, true, W(1, 2), W(2, 3), W_LAST(3)),
	ROOTS("driven", "4", T4, false, W(1, 2), W(2, 3), W(3, 4), W_LAST(4)),
	ROOTS("driven", "5", T5, false, W(1, 2), W(2, 3), W(3, 4), W(4, 5), W_LAST(5)),
	ROOTS("clear", "2", T2, false, { "^" C(1) ";--;op_1;drive_2;loop_2;op_2;burn" },
	      { "^" C(1) ";--;loop_1" }),
	ROOTS("clear", "4", T4, false,
	      { "^" C(1) ";--;op_1;drive_2;loop_2;op_2;drive_3;loop_3;op_3;drive_4;"
			 "loop_4;op_4;burn" },
	      { "^" C(1) ";--;loop_1" }),
	{
		.name = "levels-40",
		.program = "levels",
		.args = "%m 40",
		.kinds = BOTH_COMPILERS,
		.attached = true,
		.breaks = "no-key|no-interval",
		.thread = { { "main" X40(STACKED) ";burn" } },
		.async = { { DRIVEN_1 X39(DRIVEN) ";--;op;burn" } },
	},
	{
		.name = "levels-70",
		.program = "levels",
		.args = "%m 70",
		.kinds = BOTH_COMPILERS,
		.attached = true,
		.thread = { { "main" X70(STACKED) ";burn" } },
		.async = { { BEYOND X64(DRIVEN) ";--;op;burn", CLASS_GAP } },
		.bounds = { { CLASS_GAP, 1 } },
	},
	{
		.name = "wait-pool",
		.program = "wait",
		.args = "pool %m",
		.kinds = ALL_KINDS,
		.breaks = "no-key",
		.thread = { POOL_THREAD, { "main;" ASKS }, SET_UP },
		.async = { POOL("main;--*0-1;"), POOL_IDLE, { "main;" ASKS }, SET_UP },
	},
	{
		.name = "wait-under-root",
		.program = "wait",
		.args = "under %m",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { POOL_THREAD, { "main;outer_loop;outer_op;" ASKS }, SET_UP },
		.async = { POOL(UNDER "outer_op;--*0-1;"),
			   POOL_IDLE,
			   { UNDER "outer_op;" ASKS },
			   { UNDER "outer_loop" },
			   { "main;outer_loop" },
			   SET_UP },
	},
	{
		/* the wait ends and begins while the worker is sampled */
		.name = "wait-again",
		.program = "wait",
		.args = "again %m",
		.kinds = ALL_KINDS,
		.core = true,
		.breaks = "no-key",
		.thread = { POOL_THREAD,
			    { "main;request;own_work" },
			    { "main;" ASKS },
			    SET_UP },
		.async = { POOL("main;--*0-1;"),
			   POOL_IDLE,
			   { "main;request;own_work" },
			   { "main;" ASKS },
			   SET_UP },
		.shares = { { "burn", .75, "burn|own_work" } },
	},
	{
		.name = "wait-two-threads",
		.program = "wait",
		.args = "two %m",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { POOL_THREAD,
			    { "middle;middle_loop;middle_op;" ASKS },
			    { "main;ask_middle;park;sys_call" },
			    SET_UP },
		.async = { POOL(MIDDLE "middle_op;--*0-1;"),
			   POOL_IDLE,
			   { MIDDLE "middle_op;" ASKS },
			   { MIDDLE "middle_loop" },
			   { "middle;middle_loop" },
			   { "main;ask_middle;park;sys_call" },
			   SET_UP },
	},
	WAITS_TWICE("nested", "nested_op;", "--*0-1;nested_op;--*0-1;"),
	WAITS_TWICE("direct", "", ""),
	{
		/* a fiber that knows nothing of roots, on a stack of its own */
		.name = "fiber-root",
		.program = "fiber",
		.args = "root %m",
		.kinds = BOTH_COMPILERS,
		.tabled = true,
		.breaks = "no-key",
		.thread = { { "main;turns_root;turns_here;entry;work;burn" },
			    { "main;turns_root;turns_here;entry;leave_context" },
			    { "main;turns_root;turns_here;burn" },
			    SET_UP },
		.async = { { "^hop_000;hop_001;--;turns_here;--;entry;work;burn" },
			   { "^hop_000;hop_001;--;turns_here;--;entry;leave_"
			     "context" },
			   { "^hop_000;hop_001;--;turns_here;burn" },
			   { "main;turns_root" },
			   SET_UP },
		.bounds = { { CLASS_GAP, 1 } },
	},
	{
		/* passed over by frame pointers, the dispatcher still has its root */
		.name = "skip-outer",
		.program = "skip",
		.args = "outer %m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.breaks = "no-key",
		.thread = { { "main;dispatch_outer;through_outer;step" },
			    { "through_outer;step", CLASS_FP_SKIP },
			    { "main;dispatch_outer;through_outer" },
			    SET_UP },
		.async = { { "^hop_000;hop_001;--;through_outer" },
			   { "^hop_000;hop_001;--;through_outer;step" },
			   { "^hop_000;hop_001;--;step", CLASS_FP_SKIP },
			   { "^hop_000;hop_001;--;dispatch_outer" },
			   { "main;dispatch_outer" },
			   SET_UP },
		.bounds = { { CLASS_FP_SKIP, 1 } },
	},
	{
		.name = "skip-lost",
		.program = "skip",
		.args = "lost %m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.untabled = true,
		.breaks = "no-key",
		.thread = { { "main;dispatch_lost;through_lost;step" }, SET_UP },
		.async = { { "^hop_000;hop_001;--;through_lost;step" },
			   { "^hop_000;hop_001;--;dispatch_lost" },
			   { "main;dispatch_lost" },
			   SET_UP },
		/* without the root to go on from, it is cut */
		.bounds = { { CLASS_GAP, 1 }, { CLASS_CUT, .25 } },
	},
	HELD("itself", "main;hold_itself", { "^" HELD_0 "hold_itself|register_root" },
	     { "main;hold_itself", CLASS_UNSPLICED }, { "main;hold_itself;" REGISTERS }),
	HELD("called", "main;hold_called;op;burn", { "^" HELD_0 "op;burn" },
	     { "^" HELD_0 "hold_called|register_root" },
	     { "main;hold_called", CLASS_UNSPLICED }, { "main;hold_called;" REGISTERS }),
	HELD("nested", "main;hold_outer;hold_inner;op;burn", { "^" HELD_1 "op;burn" },
	     { "^" HELD_1 "hold_inner|register_root" },
	     { "^" HELD_0 "hold_inner;register_root" },
	     { "^" HELD_0 "hold_outer|register_root" },
	     { "main;hold_outer", CLASS_UNSPLICED }, { "main;hold_outer;" REGISTERS }),
};

const struct case_list cases_roots = { cases, sizeof(cases) / sizeof(*cases) };
