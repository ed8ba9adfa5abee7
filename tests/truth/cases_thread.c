/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain threads: no async caller anywhere, so both views are one, but where a fiber's
 * stack says who resumed it. */
#include "cases.h"

#define LEVELS "main;level_1;level_2;level_3;level_4;level_5;"
#define BURNS  "burn_heavy|burn_light"

/* Generated code: nameless, at its workload's own addresses. */
#define AT(n) "[jit]+0x100000" n "_[j]"
#define SHORT(its_caller, ...)                                                           \
	{                                                                                \
		"main;run;" AT(its_caller) ";" __VA_ARGS__                               \
	}

/* Stacks made by hand; a case more of its own resumer's frames */
#define FIBER(mode, ...)                                                                 \
	{                                                                                \
		.name = "fiber-" mode, .program = "fiber", .args = mode " %m",           \
		.kinds = BOTH_COMPILERS, .tabled = true,                                 \
		.thread = { { "^entry;work;burn" },                                      \
			    { "^__start_context;entry;work;burn" },                      \
			    { "^entry;leave_context" },                                  \
			    { "^__start_context;entry;leave_context" },                  \
			    __VA_ARGS__ },                                               \
		.bounds = { { CLASS_CUT, .05 } }, /* in a switch */                      \
	}

#define BYHAND_WAYS                                                                      \
	"entry_plain|entry_word|entry_context|entry_crossed|entry_called|entry_weft|"    \
	"body_adopted"
#define BYHAND_TURNS                                                                     \
	"turn_plain|turn_word|turn_context|turn_crossed|turn_called|turn_weft|"          \
	"turn_adopted"

/* All of byhand.c's, resumed by `who`; the last rules are of their first steps. */
#define BYHAND_ENDS(who)                                                                 \
	{ "^entry_plain|entry_word;work;burn" },                                         \
		{ "^entry_plain|entry_word;switch_hand" },                               \
		{ "^entry_context;work;burn" },                                          \
		{ "^__start_context;entry_context;work;burn" },                          \
		{ "^entry_context;swapcontext" },                                        \
		{ who ";turns;" BYHAND_TURNS ";burn|switch_hand" },                      \
		{ who ";turns;turn_context;swapcontext" },                               \
		{ who ";turns;turn_called;switch_call;entry_called;work;burn" },         \
		{ who ";turns;turn_called;switch_call;entry_called;switch_hand" },       \
		{ "^entry_adopted" }, { "^entry_adopted;weft_adopted_run" },             \
	{                                                                                \
		"main;sys_call"                                                          \
	}
#define BYHAND_CROSSED(who, mark)                                                        \
	{ who ";turns;turn_crossed;" mark "crosses;entry_crossed;work;burn" },           \
		{ who ";turns;turn_crossed;" mark "crosses;entry_crossed;switch_hand" }, \
		{ who ";turns;turn_weft;" mark                                           \
		      "weft_fiber_start_;weft_fiber_main_;entry_weft;"                   \
		      "work;burn" },                                                     \
		{ who ";turns;turn_adopted;" mark                                        \
		      "weft_adopted_run;body_adopted;work;burn" },                       \
	{                                                                                \
		who ";turns;turn_adopted;" mark                                          \
		    "weft_adopted_run;body_adopted;switch_hand"                          \
	}
#define BYHAND(mode, who, in_guests)                                                     \
	{                                                                                \
		.name = "byhand-" mode, .program = "byhand", .args = mode " %m",         \
		.kinds = BOTH_COMPILERS, .core = in_guests, .core_ms = 800,              \
		.tabled = true, .seen = BYHAND_WAYS,                                     \
		.thread = { BYHAND_ENDS(who), BYHAND_CROSSED(who, "") },                 \
		.async = { BYHAND_ENDS(who), BYHAND_CROSSED(who, "--;") },               \
		.bounds = { { CLASS_CUT, .05 } }, /* in a switch */                      \
	}

/* What the program runs is no generated code, though its memory is */
#define COPIED(how, in, running)                                                         \
	{                                                                                \
		.name = "copied" how, .program = "copied", .args = "%m", .kinds = in,    \
		.attached = running, .tabled = true,                                     \
		.thread = { { "main;stays;moved;burn" },                                 \
			    { "main;stays;moved" },                                      \
			    { "main;stays" },                                            \
			    { "main;sys_call" } },                                       \
	}

/* Stacks that are copied: what lies above them are main()'s frames. While one is brought
 * back, half of two is there. */
#define STOWS  "changes_to;switch_stacks;stows"
#define BRINGS "changes_to;switch_stacks;brings_back"
#define STOWED(mode, in_guests, cut)                                                     \
	{                                                                                \
		.name = "stowed-" mode, .program = "stowed", .args = mode " %m",         \
		.kinds = BOTH_COMPILERS, .core = in_guests, .tabled = true,              \
		.thread = { { "^begins;run_one;work;burn" },                             \
			    { "^begins;run_one;" STOWS },                                \
			    { "^begins;run_other;run_on;work;burn" },                    \
			    { "^begins;run_other;run_on;" STOWS },                       \
			    { "main;turns;turn_one|turn_other;burn" },                   \
			    { "main;turns;turn_one|turn_other;" STOWS },                 \
			    { "main;turns;deeper*6;turn_one;burn" },                     \
			    { "main;turns;deeper*6;turn_one;" STOWS },                   \
			    { "main;turns;deeper*1-6;burn" },                            \
			    { "main;makes*4;begins;" STOWS },                            \
			    { "main;sys_call" },                                         \
			    { "main;turns;deeper*0-6;turn_one|turn_other;" BRINGS,       \
			      CLASS_WINDOW } },                                          \
		.bounds = { { CLASS_CUT, cut } },                                        \
	}

static const struct truth_case cases[] = {
	{
		.name = "nest",
		.program = "nest",
		.args = "plain %m",
		.kinds = ALL_KINDS,
		.core = true,
		.breaks = "no-tables|late-tables",
		.thread = { { LEVELS BURNS }, { "main;sys_call" } },
		.shares = { { "burn_heavy", .75, BURNS }, { "burn_light", .25, BURNS } },
	},
	{
		.name = "nest-attached",
		.program = "nest",
		.args = "plain %m",
		.kinds = "gcc-O2",
		.attached = true,
		.thread = { { LEVELS BURNS }, { "main;sys_call" } },
		.shares = { { "burn_heavy", .75, BURNS }, { "burn_light", .25, BURNS } },
		.bounds = { { CLASS_START, 0 } },
	},
	{
		.name = "deep-100",
		.program = "nest",
		.args = "deep %m 100",
		.kinds = BOTH_COMPILERS,
		.thread = { { "main;deep*100;" BURNS }, { "main;sys_call" } },
		.shares = { { "burn_heavy", .75, BURNS } },
	},
	{
		/* deeper than the budget: a true part of it, and marked so */
		.name = "deep-600",
		.program = "nest",
		.args = "deep %m 600",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.cut_frames = 127,
		.thread = { { "main;deep*600;" BURNS }, { "main;sys_call" } },
		.shares = { { "burn_heavy", .75, BURNS } },
		.bounds = { { CLASS_CUT, 1 } },
	},
	{
		/* most of the time there is no frame to find the caller by */
		.name = "tiny-leaves",
		.program = "nest",
		.args = "tiny %m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.breaks = "no-tables|fp-leaf|late-tables",
		.thread = { { "main;tiny_loop;leaf_1|leaf_2|leaf_3|leaf_4|leaf_5|"
			      "leaf_frame_4|leaf_frame_5" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_FP_LEAF, .99 } },
	},
	{
		.name = "threads",
		.program = "threads",
		.args = "%m",
		.kinds = ALL_KINDS,
		.core = true,
		.thread = { { "work_a;do_a" },
			    { "work_b;do_b" },
			    { "work_c;do_c" },
			    { "work_d;do_d" },
			    { "work_a|work_b|work_c|work_d;turn_wait|turn_give;sys_"
			      "call" },
			    { "main;park;sys_call" },
			    { "main;sys_call" } },
		.shares = { { "do_a", .4, "do_a|do_b|do_c|do_d" },
			    { "do_b", .3, "do_a|do_b|do_c|do_d" },
			    { "do_c", .2, "do_a|do_b|do_c|do_d" },
			    { "do_d", .1, "do_a|do_b|do_c|do_d" } },
	},
	{
		/* where it would go on, another function's rule and name are */
		.name = "stub",
		.program = "stub",
		.args = "%m",
		.kinds = "gcc-O2 clang-O2-omit",
		.core = true,
		.tabled = true,
		.thread = { { "main;write_last" },
			    { "drain;sys_call" },
			    { "main;sys_call" } },
	},
	{
		/* its functions' return addresses are the kernel's, who waits for
		 * them and executes their first instructions elsewhere */
		.name = "probed",
		.program = "probed",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.tabled = true,
		.thread = { { "main;turn;outer;inner;inner;burn" },
			    { "main;turn;outer|last" },
			    { "main;turn;outer;inner" },
			    { "main;turn;outer;inner;inner" },
			    { "main;turn" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_CUT, .04 } }, /* in the trampoline itself */
	},
	COPIED("", "gcc-O2 clang-O2-omit", false),
	COPIED("-attached", "gcc-O3-omit clang-O0", true),
	{
		/* who called has returned, and others are where it was */
		.name = "dead",
		.program = "dead",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.tabled = true,
		.thread = { { "main;live;live_below;resumes;burn" },
			    { "main;live;live_below;resumes;switch_to" },
			    { "main;dead;dead_below", CLASS_START },
			    { "main;sys_call" },
			    { "main;live;live_below;makes;body;work;burn", CLASS_WINDOW },
			    { "main;live;live_below;makes;body;switch_to",
			      CLASS_WINDOW } },
		.bounds = { { CLASS_CUT, 1 } },
	},
	{
		/* until it is known what lies there now, nobody is a caller */
		.name = "reload",
		.program = "reload",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.tabled = true,
		.thread = { { "main;turns;enter_1;leaf_1" },
			    { "main;turns;enter_2;leaf_2" },
			    { "main;calls_once;keeps_address" },
			    { "main;dl_iterate_phdr", CLASS_START },
			    { "main;sys_call" } },
		.seen = "leaf_1|leaf_2",
		.bounds = { { CLASS_CUT, 1 } },
	},
	STOWED("each", true, .05),
	STOWED("storm", false, 1),
	{
		/* it has a stack of its own, but its maker's frame pointer */
		.name = "cloned",
		.program = "cloned",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.tabled = true,
		.thread = { { "^make_thread;body;burn" },
			    { "^make_thread;body" },
			    { "main;make;make_thread" }, /* in clone() */
			    { "main;make;sys_call" },
			    { "main;sys_call" } },
	},
	FIBER("alive", { "main;turns_here;burn" }, { "main;sys_call" }),
	FIBER("gone", { "main;turns_gone;turns_context;burn" },
	      { "main;turns_gone;make_below*0-9;make" }, { "main;sys_call" }),
	{
		/* what the signal interrupted is no caller, though it is there still */
		.name = "fiber-signal",
		.program = "fiber",
		.args = "signal %m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.tabled = true,
		.thread = { { "^__restore_rt;begin;entry;work;burn" },
			    { "^__restore_rt;begin;entry;leave_signal" },
			    /* arm64's restorer is the vDSO's */
			    { "^__kernel_rt_sigreturn;begin;entry;work;burn" },
			    { "^__kernel_rt_sigreturn;begin;entry;leave_signal" },
			    /* while it handles the signal, that is true */
			    { "main;turns_signal;sys_call;__restore_rt|__kernel_rt_"
			      "sigreturn;begin" },
			    { "main;turns_signal;burn" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_CUT, .05 } },
	},
	BYHAND("each", "main", true),
	BYHAND("thread", "resume", false),
	{
		/* the C library's switch takes the stack before it leaves */
		.name = "fiber-storm",
		.program = "fiber",
		.args = "storm %m",
		.kinds = BOTH_COMPILERS,
		.tabled = true,
		.torn = .2,
		.thread = { { "^entry_storm;swapcontext" },
			    { "^__start_context;entry_storm;swapcontext" },
			    { "main;turns_storm;swapcontext" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_CUT, .2 } },
	},
	{
		/* a switch that says all of its pushes, and nothing of the switch */
		.name = "byhand-hops",
		.program = "byhand",
		.args = "hops %m",
		.kinds = BOTH_COMPILERS,
		.tabled = true,
		.torn = 1,
		.thread = { { "main;hops;turn_hops;switch_call;entry_hops;switch_back" },
			    { "main;hops;turn_hops;switch_there" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_CUT, 1 } },
	},
	{
		/* but where nothing says it yet: before the push */
		.name = "generated",
		.program = "generated",
		.args = "%m",
		.kinds = "gcc-O2 clang-O2-omit",
		.tabled = true,
		.untabled = true,
		.breaks = "fp-leaf",
		.thread = { SHORT("0b", AT("40") "|" AT("44") "|" AT("45") "|" AT(
						"48") "|" AT("49")),
			    /* 50: if a copy of the code says it */
			    SHORT("10", AT("50") "|" AT("52") "|" AT("53") "|" AT(
						"56") "|" AT("57")),
			    SHORT("15", AT("60") "|" AT("61") "|" AT("63") "|" AT(
						"66") "|" AT("67")),
			    SHORT("1a", AT("70") "|" AT("71") "|" AT("74") "|" AT(
						"76") "|" AT("77")),
			    SHORT("22",
				  AT("80") "|" AT("82") "|" AT("86") "|" AT("8c") "|" AT(
					  "8d") "|" AT("90") "|" AT("91")),
			    SHORT("27", AT("a9") ";" AT("b8") "|" AT("b9") "|" AT(
						"bc") "|" AT("be") "|" AT("bf")),
			    SHORT("27", AT("ad")),
			    /* what the register leads to is no caller: cut */
			    SHORT("2c", AT("d0") "|" AT("d1") "|" AT("d6") "|" AT(
						"d8") "|" AT("d9") "|" AT("da")),
			    { "main;run;" AT("06") "|" AT("1a") "|" AT("1d") "|" AT(
				    "22") "|" AT("27") "|" AT("2c") },
			    { "main;run;" AT("50") "|" AT("a0") "|" AT("a4"),
			      CLASS_FP_LEAF },
			    { "main;sys_call" } },
		.bounds = { { CLASS_FP_LEAF, .1 }, { CLASS_CUT, .4 } },
	},
	{
		/* behind the frame pointer's load, or the stack pointer's, it is cut */
		.name = "jump-back",
		.program = "jump",
		.args = "back %m",
		.kinds = "clang-O0 gcc-O3-omit clang-O2-omit",
		.torn = .5,
		.thread = { { "main;turn;deep;deeper;go_back" },
			    { "main;turn;keep_place" },
			    { "main;sys_call" } },
		/* all but the first third, which has no loads to wait for: 78 % here */
		.bounds = { { CLASS_CUT, 1 } },
	},
	{
		/* its callers have a frame pointer or not, what it lies on has none */
		.name = "entered",
		.program = "entered",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.tabled = true,
		.seen = "nested",
		.thread = { { "main;schedule;first|second|run_code" },
			    { "main;schedule;second;helper" },
			    { "main;schedule;second;inner;schedule;nested|run_code" },
			    { "main;schedule;second;inner;schedule" },
			    { "main;schedule;second;inner" },
			    { "main;schedule" },
			    { "main" },
			    { "main;sys_call" } },
	},
	{
		.name = "probe",
		.program = "probe",
		.args = "%m",
		.kinds = "gcc-O2 clang-O2-omit",
		.tabled = true,
		.seen = "turn_probe",
		.thread = { { "main;serve_probe;loop_probe;turn_probe" },
			    { "main;serve_probe;loop_probe" },
			    { "main;sys_call" } },
	},
	{
		/* the helper that uses the register is cut, or has a gap: less than half
		 * of the time, and with the other one more than half */
		.name = "kept",
		.program = "kept",
		.args = "%m",
		.kinds = "gcc-O2 clang-O2-omit",
		.tabled = true,
		.seen = "helper_kept",
		.thread = { { "main;turn;aligned_kept;helper_kept" },
			    { "main;turn;aligned_kept|aligned_spoilt" },
			    { "main;turn" },
			    { "main;sys_call" } },
		.bounds = { { CLASS_CUT, .5 }, { CLASS_GAP, .5 } },
	},
};

const struct case_list cases_thread = { cases, sizeof(cases) / sizeof(*cases) };
