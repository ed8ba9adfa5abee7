/* SPDX-License-Identifier: BSD-2-Clause */
/* One case in one kind: recorded, and all of it judged. */
#ifndef TRUTH_TRIAL_H
#define TRUTH_TRIAL_H

#include "judge.h"
#include "recorder.h"

/*
 * 0, RECORDER_LACKS, or an error. What the profiler did wrong is in `wrong`, a
 * line each; of one with a fault only what the async view shows, or of what came
 * too late, since a case that fails for another reason has not noticed anything.
 */
int trial_run(const struct setup *setup, const struct truth_case *of, const char *kind,
	      struct finding findings[N_VIEWS], struct str *wrong);

#endif
