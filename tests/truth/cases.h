/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cases of the ground truth, as data: what to run and every stack that it
 * can have. The programs are in tests/workloads, whose heads say why.
 */
#ifndef TRUTH_CASES_H
#define TRUTH_CASES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a sample's stack is, in one view. What is FALSE fails at once; of the
 * others a case may hold so much of its samples, by default the share given
 * here. All but EXACT and HELPER are what frame pointers alone can't know or
 * what the profiler itself marks as incomplete. Where unwind tables are used,
 * there are none of the classes fp-; what the tables came too late for is cut, and
 * the profiler must have said so of as many samples.
 *
 * name, most by default, word, meaning
 */
#define CLASSES(X)                                                                       \
	X(EXACT, 1, "exact", "the true stack")                                           \
	X(HELPER, 1, "helper", "true, in one of async.h's own functions")                \
	X(LIBRARY, 1, "library", "true, in a library's own functions")                   \
	X(FP_LEAF, .02, "fp-prologue", "before or after the leaf's frame: no caller")    \
	X(FP_LIBC, .02, "fp-libc", "in a library without frame pointers: no caller")     \
	X(FP_START, 1, "fp-start",                                                       \
	  "libc's start without frame pointers: cut or garbage")                         \
	X(FP_SKIP, 0, "fp-skip", "code without frame pointers among the callers")        \
	X(START, .05, "start-up", "nothing of the workload's own runs yet, or any more") \
	X(CUT, .01, "cut", "a true part, marked as cut")                                 \
	X(GAP, 0, "gap", "a true stack with its gap marked")                             \
	X(UNSPLICED, .03, "unspliced", "the thread's stack, its key not yet known")      \
	X(WINDOW, 0, "push-window", "while an operation hands over to another")

enum stack_class {
#define X(name, most, word, meaning) CLASS_##name,
	CLASSES(X)
#undef X
		N_CLASSES,
	CLASS_FALSE
};

enum view { VIEW_THREAD, VIEW_ASYNC, N_VIEWS };

struct allowed {
	const char *path; /* as path.h has it */
	enum stack_class as;
};

/* Of the samples that have one of `among` (NULL: of all), so many have `frame`. */
struct share {
	const char *frame;
	double share;
	const char *among; /* a|b: either */
	int clump; /* samples that fall together: of one life, say; 0: each alone */
};

struct bound {
	enum stack_class is;
	double most;
};

#define PATHS_MAX  24
#define SHARES_MAX 4
#define BOUNDS_MAX 6

struct judge;

struct truth_case {
	const char *name;
	const char *program;
	/* %m: milliseconds to live; %d: the program's folder */
	const char *args;
	const char *kinds;	 /* folders below the workloads', a space between */
	const char *comms;	 /* a|b; NULL: the program's name */
	const char *option;	 /* one more of weft record; NULL: none */
	bool core;		 /* also in the virtual machines */
	bool attached;		 /* by -p to the running program, not started */
	bool tabled;		 /* by frame pointers alone nothing is known of it */
	bool untimed;		 /* how late a key and how rare ticks are is its load's */
	bool untabled;		 /* some of its code has no call frame information */
	bool stops_recorder;	 /* the recorder is stopped for half of the time */
	const char *breaks;	 /* a|b: faults that this case must notice */
	unsigned int ms;	 /* to live; 0: as the run says */
	unsigned int core_ms;	 /* the same in the virtual machines */
	double busy;		 /* of one CPU, at least; 0: 0.07 */
	double torn;		 /* of its samples, how many switch stacks; or 0 */
	double awaited;		 /* of its samples, what may precede their tables; 0: its
				    programs are not new all the time */
	unsigned int cut_frames; /* what is cut has at least so many; 0: any */
	struct allowed thread[PATHS_MAX];
	struct allowed async[PATHS_MAX]; /* none: as thread */
	/* Tells of what is too much for a table: calls allow(judge, …) for each. */
	int (*more)(int (*allow)(struct judge *judge, enum view view, const char *path,
				 enum stack_class as),
		    struct judge *judge);
	struct share shares[SHARES_MAX];
	const char *seen; /* a|b: there is a sample with each of these frames */
	struct bound bounds[BOUNDS_MAX];
};

struct case_list {
	const struct truth_case *cases;
	size_t n;
};

extern const struct case_list cases_thread, cases_life, cases_async, cases_roots,
	cases_app;

#define BOTH_COMPILERS "gcc-O2 clang-O0 gcc-O3-omit clang-O2-omit"
#define ALL_LINKS      "static static-pie musl musl-static"
#define ALL_KINDS      BOTH_COMPILERS " " ALL_LINKS

/* of tests/workloads/follylib.c, which calls its own by its PLT */
#define LIB_RESUME "lib_resume|lib_resume@plt"

#endif
