/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares one view of a recording with what its case allows. The denominator
 * is every sample of the recording, whatever it fell into.
 */
#ifndef TRUTH_JUDGE_H
#define TRUTH_JUDGE_H

#include "base/str.h"
#include "base/vec.h"
#include "cases.h"
#include "folded.h"
#include "path.h"

/* A stack that may be. */
struct rule {
	struct path path;
	enum stack_class as;
};

/* A case whose paths were read. */
struct judge {
	const struct truth_case *of;
	double more;   /* added to each bound but 0: for slow machines */
	double late;   /* samples that may be unspliced besides: the key was on its way */
	bool by_table; /* callers were found by unwind tables */
	double awaited; /* samples that may be cut or have a gap besides: the tables
			   were on their way, as the profiler itself says */
	VEC(struct rule) rules[N_VIEWS];
};

/* What was found, in one view. */
struct finding {
	unsigned long long classes[N_CLASSES];
	unsigned long long n_false; /* none of them */
	unsigned long long total;
	bool lacks_part; /* no sample is of a part that is to have shares */
};

int judge_open(struct judge *ret, const struct truth_case *of);
void judge_close(struct judge *judge);

/*
 * Adds a sentence to `wrong` for everything that isn't as it must be, each
 * ended by a newline; nothing when all is well.
 */
void judge_view(const struct judge *judge, enum view view, const struct folded *folded,
		struct finding *ret, struct str *wrong);

/* Is more of it of that class than the case may have? A single one is no share yet. */
bool judge_is_over(const struct judge *judge, const struct finding *finding,
		   enum stack_class is);

#endif
