/* SPDX-License-Identifier: BSD-2-Clause */
/* One dispatcher and what it runs. */
#include "cases.h"

#define SET_UP                                                                           \
	{                                                                                \
		"main;sys_call"                                                          \
	}

/* A chain, then what the dispatcher of that name runs beside it. */
#define DISPATCH(below, hops, loop)                                                      \
	.thread = { { "main;" below loop ";step|housekeeping" },                         \
		    { "main;" below loop },                                              \
		    { "main;" below "sys_call" },                                        \
		    SET_UP },                                                            \
	.async = { { "^" hops ";--;step" },                                              \
		   { "^" hops ";--;" loop },                                             \
		   { "main;" below loop ";housekeeping" },                               \
		   { "main;" below "sys_call" },                                         \
		   SET_UP },                                                             \
	.shares = { { "step", .75, "step|housekeeping" } }

/* Each child runs the dispatcher; the parent is in fork() and wait() only. */
#define FORKED_DISPATCH                                                                  \
	.thread = { { "main;fork_loop;dispatch;step|housekeeping" },                     \
		    { "main;fork_loop;dispatch" },                                       \
		    { "main;fork_loop;sys_call" },                                       \
		    { "main;fork_loop" },                                                \
		    SET_UP },                                                            \
	.async = { { "^hop_{000..002};--;step" },                                        \
		   { "^hop_{000..002};--;dispatch" },                                    \
		   { "main;fork_loop;dispatch;housekeeping" },                           \
		   { "main;fork_loop;sys_call" },                                        \
		   { "main;fork_loop" },                                                 \
		   SET_UP },                                                             \
	.shares = { { "step", .75, "step|housekeeping" } }

#define CHAIN(length, hops, kind, in_core)                                               \
	{                                                                                \
		.name = "chain-" length, .program = "chain", .args = "plain %m " length, \
		.kinds = kind, .core = in_core, .breaks = "no-key|no-tables",            \
		DISPATCH("", hops, "dispatch")                                           \
	}

#define FOLLY_CHAIN "^detached_task;task_a;task_b;--;"
#define FOLLY(linkage, in_kinds)                                                         \
	{                                                                                \
		.name = "folly-" linkage, .program = "folly-" linkage,                   \
		.args = "plain %m", .kinds = in_kinds, .breaks = "no-key",               \
		.thread = { { "main;resume_loop;resume" }, SET_UP },                     \
		.async = { { FOLLY_CHAIN "resume" },                                     \
			   { FOLLY_CHAIN "resume_loop" },                                \
			   { "main;resume_loop" },                                       \
			   SET_UP },                                                     \
	}

/* Plugins a to f, each with a key; down to n on the thread, and what is seen in n. */
#define P_IN(n)	 "loop_" #n ";op_" #n ";"
#define P_END(n) "loop_" #n ";op_" #n ";burn_" #n
#define P_CHAIN(n)                                                                       \
	{                                                                                \
		"^task_" #n ";--;loop_" #n                                               \
	}
#define P_ASYNC(n, next)                                                                 \
	P_CHAIN(n),                                                                      \
	{                                                                                \
		"^task_" #n ";--;op_" #n ";burn_" #n "|loop_" #next                      \
	}
/* The same below a chain whose dispatcher is an outer one, where the key of an inner
 * one is not known yet. */
#define P_MORE(n) "op_" #n ";burn_" #n "*0-1;loop_"
#define P_UNKNOWN(n, rest)                                                               \
	{                                                                                \
		"^task_" #n ";--;" rest, CLASS_UNSPLICED                                 \
	}
#define P_REST(n, next, rest)	   P_MORE(n) #next ";" rest
#define P_LAST(n)		   "op_" #n ";burn_" #n
#define P_FROM_E(e, f)		   P_REST(e, f, P_LAST(f))
#define P_FROM_D(d, e, f)	   P_REST(d, e, P_FROM_E(e, f))
#define P_FROM_C(c, d, e, f)	   P_REST(c, d, P_FROM_D(d, e, f))
#define P_FROM_B(b, c, d, e, f)	   P_REST(b, c, P_FROM_C(c, d, e, f))
#define P_FROM_A(a, b, c, d, e, f) P_REST(a, b, P_FROM_B(b, c, d, e, f))
#define P_BURNS(a, b, c, d, e, f)                                                        \
	"burn_" #a "|burn_" #b "|burn_" #c "|burn_" #d "|burn_" #e "|burn_" #f
#define P_TASKS(a, b, c, d, e, f)                                                        \
	"task_" #a "|task_" #b "|task_" #c "|task_" #d "|task_" #e "|task_" #f
#define PLUGINS(a, b, c, d, e, f)                                                        \
	.thread = { { "main;" P_END(a) },                                                \
		    { "main;" P_IN(a) P_END(b) },                                        \
		    { "main;" P_IN(a) P_IN(b) P_END(c) },                                \
		    { "main;" P_IN(a) P_IN(b) P_IN(c) P_END(d) },                        \
		    { "main;" P_IN(a) P_IN(b) P_IN(c) P_IN(d) P_END(e) },                \
		    { "main;" P_IN(a) P_IN(b) P_IN(c) P_IN(d) P_IN(e) P_END(f) },        \
		    SET_UP },                                                            \
	.async = { P_ASYNC(a, b),                                                        \
		   P_ASYNC(b, c),                                                        \
		   P_ASYNC(c, d),                                                        \
		   P_ASYNC(d, e),                                                        \
		   P_ASYNC(e, f),                                                        \
		   P_ASYNC(f, f),                                                        \
		   P_UNKNOWN(a, P_FROM_A(a, b, c, d, e, f)),                             \
		   P_UNKNOWN(b, P_FROM_B(b, c, d, e, f)),                                \
		   P_UNKNOWN(c, P_FROM_C(c, d, e, f)),                                   \
		   P_UNKNOWN(d, P_FROM_D(d, e, f)),                                      \
		   P_UNKNOWN(e, P_FROM_E(e, f)),                                         \
		   { "main;loop_" #a },                                                  \
		   SET_UP },                                                             \
	.shares = { { "burn_" #a, .1667, P_BURNS(a, b, c, d, e, f) },                    \
		    { "burn_" #f, .1667, P_BURNS(a, b, c, d, e, f) },                    \
		    { "task_" #e, .1667, P_TASKS(a, b, c, d, e, f) },                    \
		    { "task_" #f, .1667, P_TASKS(a, b, c, d, e, f) } }

/* a library calls its own by its PLT */
#define INTO_LIBRARY "resume_into_library;library_run;lib_loop|lib_loop@plt"
#define GENERATORS   "^hop_000;consumer;--;"
#define MIGRANT	     "^hop_000;hop_001;--;"

#define LABELLED   "^hop_000;[GET /users];hop_001;"
#define LONG_LABEL "[a label of 40 bytes, of which 35 ar]"

static const struct truth_case cases[] = {
	CHAIN("1", "hop_000", ALL_KINDS, false),
	CHAIN("10", "hop_{000..009}", ALL_KINDS " stripped", false),
	CHAIN("60", "hop_{000..059}", BOTH_COMPILERS, true),
	CHAIN("400", "hop_{000..399}", BOTH_COMPILERS, false),
	{
		/* more than a walk takes unless it is told to take more */
		.name = "chain-700",
		.program = "chain",
		.args = "plain %m 700",
		.kinds = "gcc-O2 clang-O2-omit",
		.option = "--max-frames=1024",
		DISPATCH("", "hop_{000..399};hop_{000..299}", "dispatch"),
	},
	{
		.name = "chain-700-cut",
		.program = "chain",
		.args = "plain %m 700",
		.kinds = "gcc-O2 clang-O2-omit",
		.cut_frames = 512,
		DISPATCH("", "hop_{000..399};hop_{000..299}", "dispatch"),
		.bounds = { { CLASS_CUT, 1 } },
	},
	{
		/* the key is known, so none may be without its callers; it is not in the
		 * C library's first block of keys */
		.name = "chain-attached",
		.program = "chain",
		.args = "keys %m 10",
		.kinds = "gcc-O2 clang-O2-omit musl",
		.attached = true,
		.breaks = "no-key",
		DISPATCH("", "hop_{000..009}", "dispatch"),
		.bounds = { { CLASS_UNSPLICED, 0 } },
	},
	{
		.name = "keys-40",
		.program = "chain",
		.args = "keys %m 3",
		.kinds = ALL_KINDS,
		.core = true,
		.breaks = "no-key",
		DISPATCH("", "hop_{000..002}", "dispatch"),
	},
	{
		.name = "root-per-operation",
		.program = "chain",
		.args = "scope %m 3",
		.kinds = BOTH_COMPILERS,
		DISPATCH("", "hop_{000..002}", "dispatch_scope"),
	},
	{
		.name = "current-root",
		.program = "chain",
		.args = "current %m 3",
		.kinds = BOTH_COMPILERS,
		DISPATCH("", "hop_{000..002}", "dispatch_current"),
	},
	{
		/* each child is a new process, and has its key from its first moment */
		.name = "chain-forked",
		.program = "chain",
		.args = "fork %m 3",
		.kinds = ALL_KINDS,
		FORKED_DISPATCH,
		/* by frame pointers a tenth is in libc, under load twice that */
		.bounds = { { CLASS_START, .25 },
			    { CLASS_FP_LIBC, .3 },
			    { CLASS_CUT, .05 } },
	},
	{
		/* the program's own words; what is pushed in two is seen in two */
		.name = "labels",
		.program = "label",
		.args = "words %m",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { { "main;dispatch;labelled_step;step" }, SET_UP },
		.async = { { LABELLED "[retry];hop_002;--;labelled_step;step" },
			   { LABELLED LONG_LABEL ";hop_003;--;labelled_step;step" },
			   { LABELLED "[retry];hop_002;--;labelled_step" },
			   { LABELLED LONG_LABEL ";hop_003;--;labelled_step" },
			   { LABELLED "[retry];--;labelled_step" },
			   { LABELLED LONG_LABEL ";--;labelled_step" },
			   { "^hop_000;[GET /users];hop_001;--;labelled_step" },
			   { "^hop_000;[GET /users];hop_001;--;dispatch" },
			   { "main;dispatch" },
			   SET_UP },
		.shares = { { "hop_002", .5, "hop_002|hop_003" } },
	},
	{
		.name = "short-50ns",
		.program = "chain",
		.args = "short %m 3",
		.kinds = BOTH_COMPILERS,
		.thread = { { "main;dispatch_short;short_step" }, SET_UP },
		.async = { { "^hop_{000..002};--;short_step" },
			   { "^hop_{000..002};--;dispatch_short" },
			   { "main;dispatch_short" },
			   SET_UP },
		.bounds = { { CLASS_FP_LEAF, .5 } },
	},
	{
		.name = "tight-push-pop",
		.program = "chain",
		.args = "tight %m 3",
		.kinds = BOTH_COMPILERS,
		.core = true,
		.thread = { { "main;dispatch_tight;tight_step" }, SET_UP },
		.async = { { "^hop_{000..002};--;tight_step" },
			   { "^hop_{000..002};--;dispatch_tight" },
			   { "^hop_{000..002};tight_step;--;tight_step", CLASS_WINDOW },
			   { "main;dispatch_tight" },
			   SET_UP },
		.bounds = { { CLASS_WINDOW, .95 }, { CLASS_FP_LEAF, .5 } },
	},
	{
		/* between a push and the return that ends it, and the same of a pop */
		.name = "generator",
		.program = "moves",
		.args = "generator %m",
		.kinds = ALL_KINDS,
		.core = true,
		.breaks = "no-key",
		.thread = { { "main;generator_loop;consumer;consume" },
			    { "main;generator_loop;generator;produce" },
			    SET_UP },
		.async = { { "^hop_000;--;consumer;consume" },
			   { "^hop_000;--;generator_loop" },
			   { GENERATORS "generator;produce" },
			   { GENERATORS "generator_loop" },
			   { GENERATORS "consumer", CLASS_WINDOW },
			   { "^hop_000;--;generator", CLASS_WINDOW },
			   { "main;generator_loop" },
			   SET_UP },
		.shares = { { "consume", .6667, "consume|produce" } },
		.bounds = { { CLASS_WINDOW, .01 } },
	},
	{
		.name = "migrate",
		.program = "moves",
		.args = "migrate %m",
		.kinds = ALL_KINDS,
		.breaks = "no-key",
		.thread = { { "host_a;host_a_loop;first_half" },
			    { "host_b;host_b_loop;second_half" },
			    { "host_a;host_a_loop;turn_wait|turn_give;sys_call" },
			    { "host_b;host_b_loop;turn_wait|turn_give;sys_call" },
			    { "main;park;sys_call" },
			    SET_UP },
		.async = { { MIGRANT "first_half" },
			   { MIGRANT "second_half" },
			   { MIGRANT "host_a_loop" },
			   { MIGRANT "host_b_loop" },
			   { "host_a;host_a_loop;turn_wait|turn_give;sys_call" },
			   { "host_b;host_b_loop;turn_wait|turn_give;sys_call" },
			   { "main;park;sys_call" },
			   SET_UP },
		.shares = { { "first_half", .5, "first_half|second_half" } },
	},
	FOLLY("weak", ALL_KINDS),
	FOLLY("unique", BOTH_COMPILERS),
	FOLLY("local", ALL_KINDS),
	FOLLY("global", BOTH_COMPILERS),
	{
		/* the first process of a container, which has no file of the outside */
		.name = "contained",
		.program = "contain",
		.args = "%m %d/chain plain %m 10",
		.kinds = ALL_KINDS,
		.comms = "contain|chain",
		.breaks = "no-key",
		DISPATCH("", "hop_{000..009}", "dispatch"),
	},
	{
		.name = "folly-contained",
		.program = "contain",
		.args = "%m %d/folly-weak plain %m",
		.kinds = ALL_KINDS,
		.comms = "contain|folly-weak",
		.breaks = "no-key",
		.thread = { { "main;resume_loop;resume" }, SET_UP },
		.async = { { FOLLY_CHAIN "resume" },
			   { FOLLY_CHAIN "resume_loop" },
			   { "main;resume_loop" },
			   SET_UP },
	},
	{
		.name = "six-plugins",
		.program = "plugins",
		.args = "%m 6 012345",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		PLUGINS(0, 1, 2, 3, 4, 5),
	},
	{
		/* more keys than fit, of which six are set: those of the last ones */
		.name = "six-of-ten-plugins",
		.program = "plugins",
		.args = "%m 10 918273",
		.kinds = BOTH_COMPILERS,
		.attached = true,
		.breaks = "no-key",
		PLUGINS(9, 1, 8, 2, 7, 3),
		.bounds = { { CLASS_UNSPLICED, 0 } },
	},
	{
		.name = "folly-dead-copy",
		.program = "folly-weak",
		.args = "dead %m %d/libdead.so",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { { "main;resume_loop;resume" }, SET_UP },
		.async = { { FOLLY_CHAIN "resume" },
			   { FOLLY_CHAIN "resume_loop" },
			   { "main;resume_loop" },
			   SET_UP },
	},
	{
		.name = "folly-two-keys",
		.program = "folly-local",
		.args = "live %m %d/liblive.so",
		.kinds = BOTH_COMPILERS,
		.breaks = "no-key",
		.thread = { { "main;resume_loop;" INTO_LIBRARY ";" LIB_RESUME }, SET_UP },
		.async = { { FOLLY_CHAIN INTO_LIBRARY },
			   { FOLLY_CHAIN "resume_loop" },
			   /* the library's key is found a little later */
			   { FOLLY_CHAIN INTO_LIBRARY ";" LIB_RESUME, CLASS_UNSPLICED },
			   { "^lib_task;--;" LIB_RESUME },
			   { "^lib_task;--;lib_loop" },
			   { "main;resume_loop" },
			   SET_UP },
		/* by frame pointers, in libc's code below a root */
		.bounds = { { CLASS_GAP, .002 } },
		/* and each of the library's is its task's, or was too early for that */
		.shares = { { "lib_resume", .5, "resume_into_library|" LIB_RESUME } },
	},
};

const struct case_list cases_async = { cases, sizeof(cases) / sizeof(*cases) };
