/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window of a recording on its way to a profile: what gathers it, what it came to,
 * its names. The same for the one window of `weft record` and for those of an agent.
 */
#ifndef WEFT_RECORD_WINDOW_PROFILE_H
#define WEFT_RECORD_WINDOW_PROFILE_H

#include "pipeline/profile_builder.h"
#include "record/recording.h"
#include "record/stats.h"
#include "sym/code_verdicts.h"

struct window_profile { /* {0}, then _begin() */
	const struct recording *recording;
	const struct recorded_window *window;
	struct profile_builder *builder;
	struct code_verdicts *verdicts; /* of earlier windows, borrowed; or NULL */
};

/* Both are borrowed. Good for an open window and for a closed one. begun_ns: when its
 * sampling began, by the clock of samples. */
int window_profile_begin(struct window_profile *profile,
			 const struct recording *recording,
			 const struct recorded_window *window, uint64_t begun_ns);
void window_profile_end(struct window_profile *profile); /* not itself */

/* What names are looked for with, by the recording's own worker. */
struct symbol_sources window_profile_sources(const struct window_profile *profile);

/* Once all names are there: whose async keys nobody can find, into stats; and what is
 * no return address, into names. */
int window_profile_check(const struct window_profile *profile, struct names *names,
			 struct stats *stats);

/*
 * Of a closed window: the profile takes over what is left, its names and its ledger.
 * stats has what only the caller knows: totals, the time that it took, symbols.
 */
int window_profile_finish(struct window_profile *profile, const struct names *names,
			  struct stats *stats);

#endif
