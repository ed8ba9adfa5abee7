/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes and libraries that come while the profiler is at work. */
#include "cases.h"

#define FORKS(loop)                                                                      \
	{ "main;" loop ";raw_fork;sys_call" }, { "main;" loop ";wait_child;sys_call" },  \
		{ "main;" loop ";sys_call" }, { "main;" loop ";child_work" },            \
	{                                                                                \
		"main;sys_call"                                                          \
	}
#define BRIEF                                                                            \
	{ "main;brief_life;brief_work" }, { "main;brief_life;sys_call" },                \
	{                                                                                \
		"main;next_life;become;sys_call"                                         \
	}

#define LATE_CHAIN "^late_caller;late_callee;--;"
#define DISPATCHED "late_step|late_idle"
#define BY_PLT	   "late_step@plt|late_idle@plt" /* a library calls its own so */

#define TRUE_CHAIN "^true_a;true_b;--;"
#define PLAIN                                                                            \
	{ "main;plain_loop;plain_step;burn" }, { "main;plain_loop;sys_call" },           \
		{ "main;become;sys_call" }, { "main;sys_call" },                         \
	{                                                                                \
		"main;swap_loop"                                                         \
	}

static const struct truth_case cases[] = {
	{
		.name = "fork-storm",
		.program = "storm",
		.args = "fork %m",
		.kinds = ALL_KINDS,
		.core = true,
		.thread = { FORKS("fork_loop"), { "main;fork_loop;parent_work" } },
		.shares = { { "child_work", .75, "child_work|parent_work", 4 } },
		/* a process that ends has no memory any more, but goes on for a while */
		.awaited = .1,
		.bounds = { { CLASS_START, .2 }, { CLASS_CUT, .05 } },
	},
	{
		/* what a program does before main is most of such a life */
		.name = "exec-storm",
		.program = "storm",
		.args = "exec %m",
		.kinds = ALL_KINDS,
		.comms = "storm|exe",
		.thread = { FORKS("exec_loop"),
			    BRIEF,
			    { "main;exec_loop;become;sys_call" },
			    { "main;exec_loop;parent_life;parent_work|sys_call" } },
		.shares = { { "brief_life", .5, "brief_life|parent_life", 4 } },
		.awaited = .25,
		.bounds = { { CLASS_CUT, .02 },
			    { CLASS_START, .4 },
			    { CLASS_FP_LIBC, .1 } },
	},
	{
		.name = "exec-in-place",
		.program = "storm",
		.args = "chain %m",
		.kinds = "gcc-O2 clang-O0 static musl",
		.comms = "storm|exe",
		.thread = { BRIEF, { "main;sys_call" } },
		.awaited = .25,
		.bounds = { { CLASS_CUT, .02 },
			    { CLASS_START, .4 },
			    { CLASS_FP_LIBC, .1 } },
	},
	{
		.name = "brief-5ms",
		.program = "storm",
		.args = "brief %m",
		.kinds = ALL_KINDS,
		.ms = 5,
		/* a dozen samples: what is cut had no table yet, which is told, and how
		 * much of so short a life its start-up takes is the machine's affair */
		.thread = { BRIEF, { "main;sys_call" } },
		.bounds = { { CLASS_CUT, .1 },
			    { CLASS_START, 1 },
			    { CLASS_FP_LIBC, .3 } },
	},
	{
		/* at minute one of three: --ms 180000 */
		.name = "dlopen-late",
		.program = "late",
		.args = "%m",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key|late-tables",
		.thread = { { "main;early_work" },
			    { "main;sys_call" },
			    { "main;late_run;late_loop;" DISPATCHED "|" BY_PLT } },
		.async = { { "main;early_work" },
			   { "main;sys_call" },
			   { LATE_CHAIN "late_step|late_step@plt" },
			   { LATE_CHAIN "late_loop" },
			   { "main;late_run;late_loop;late_idle|late_idle@plt" } },
		.shares = { { "late_step", .75, DISPATCHED } },
		.bounds = { { CLASS_FP_LIBC, .05 }, { CLASS_CUT, .03 } },
	},
	{
		/* where the key was is nothing, or something else, from then on */
		.name = "dlopen-again",
		.program = "reopen",
		.args = "%m 3",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { { "main;library_run;lib_loop;" LIB_RESUME },
			    { "main;sys_call" } },
		.async = { { "^lib_task;--;" LIB_RESUME },
			   { "^lib_task;--;lib_loop" },
			   { "main;library_run;lib_loop" },
			   /* until it is known where the key is now */
			   { "main;library_run;lib_loop;" LIB_RESUME, CLASS_UNSPLICED },
			   { "main;sys_call" } },
		/* each time it is opened */
		.bounds = { { CLASS_UNSPLICED, .1 }, { CLASS_CUT, .05 } },
	},
	{
		/* the slot of the decoy's key, read with what was published before */
		.name = "swap",
		.program = "swap",
		.args = "%m %d/swap-decoy",
		.kinds = "static",
		.core = true,
		.comms = "swap|swap-decoy",
		.ms = 1500,
		.awaited = .05,
		.stops_recorder = true,
		.breaks = "no-identity",
		.thread = { { "main;swap_loop;step;burn" },
			    { "main;swap_loop;sys_call" },
			    PLAIN },
		.async = { { TRUE_CHAIN "step;burn" },
			   { TRUE_CHAIN "sys_call" },
			   { TRUE_CHAIN "swap_loop" },
			   { "main;swap_loop;sys_call" },
			   PLAIN },
		.bounds = { { CLASS_UNSPLICED, .45 }, { CLASS_START, .15 } },
	},
};

const struct case_list cases_life = { cases, sizeof(cases) / sizeof(*cases) };
